"""Text to numbers: what a word is, and the vocabulary that gives each its id.

    texts ──rules──► words ──counts──► Vocabulary ──encode──► Ragged of int64

`rules` says what a word is, `counts` how often each was seen, and the vocabulary keeps the most frequent ones.
"""

from recordsmith.text.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
