"""A mixed corpus, made of the project's own files and of sentences written for it."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]

_SENTENCES = {
    "english": "The tool came back after the model had gone on, so its answer was shown late.",
    "german": "Das Werkzeug antwortete erst, nachdem das Modell schon weitergesprochen hatte.",
    "french": "L'outil n'a répondu qu'après que le modèle eut déjà continué la conversation.",
    "russian": "Инструмент ответил только после того, как модель уже продолжила разговор.",
    "greek": "Το εργαλείο απάντησε αφού το μοντέλο είχε ήδη συνεχίσει τη συζήτηση.",
    "arabic": "أجابت الأداة بعد أن كان النموذج قد تابع المحادثة بالفعل.",
    "hindi": "उपकरण ने तब उत्तर दिया जब मॉडल बातचीत आगे बढ़ा चुका था।",
    "chinese": "模型已经继续对话之后,工具才返回结果,所以答案显示得晚了一些。",
    "japanese": "モデルが会話を続けた後にツールが応答したため、回答は遅れて表示された。",
    "korean": "모델이 이미 대화를 이어간 뒤에야 도구가 응답했기 때문에 답이 늦게 표시되었다.",
    "emoji": "Done 🎉 two files read 📄📄 one failed ❌ retrying 🔁 please wait ⏳",
}


def texts() -> dict[str, str]:
    """Kinds of text by name, each a few kilobytes."""
    code = "\n".join(path.read_text() for path in sorted((ROOT / "app/model").glob("*.py")))
    prose = (ROOT / "LICENSE").read_text()
    rows = [
        {"id": 2512292042121000001 + n, "path": f"src/file_{n}.py", "ok": n % 3 == 0}
        for n in range(200)
    ]
    found = {
        "python code": code[:40_000],
        "english prose": prose[:40_000],
        "json compact": json.dumps(rows, separators=(",", ":")),
        "json indented": json.dumps(rows, indent=2),
        "numbers": "\n".join(f"{n},{n * n},{n / 7:.6f}" for n in range(400)),
        "hex and ids": "\n".join(
            f"call_{n * 2654435761:016x} toolu_{n * 40503:012X}" for n in range(200)
        ),
        "shell listing": "\n".join(
            f"-rw-r--r-- 1 me me {n * 37} Jan {n % 28 + 1} f{n}.txt" for n in range(200)
        ),
    }
    return found | {name: (sentence + " ") * 20 for name, sentence in _SENTENCES.items()}
