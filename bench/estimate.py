"""How far the token estimate is from a real tokenizer (Mistral's, which its package carries)."""

from pathlib import Path

import mistral_common
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from app.replay.tokens import estimated_text_tokens
from bench.corpus import texts


def main() -> None:
    data = Path(mistral_common.__file__).parent / "data" / "tekken_240911.json"
    tokenizer = Tekkenizer.from_file(data)
    estimated = counted = 0
    print(f"{'kind of text':16} {'tokens':>7} {'estimate':>9} {'ratio':>6}")
    for kind, text in texts().items():
        real = len(tokenizer.encode(text, bos=False, eos=False))
        guess = estimated_text_tokens(text)
        print(f"{kind:16} {real:7} {guess:9} {guess / real:6.2f}")
        estimated += guess
        counted += real
    print(f"{'all':16} {counted:7} {estimated:9} {estimated / counted:6.2f}")


if __name__ == "__main__":
    main()
