"""The benchmarks themselves: what they make of figures, and that their load arrives."""
