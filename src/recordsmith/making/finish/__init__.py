"""What is done to records once the splits are known.

    VocabularyIds   text to ids of words, as Keras' TextVectorization gives them
    BpeIds          text to ids of sub-words, by a tokenizer of Hugging Face
    Tfidf           text to sparse TF-IDF weights, as scikit-learn gives them

Each is fitted on the training split alone, and then applied to all splits.
"""

from recordsmith.making.finish.bpe_ids import BpeIds
from recordsmith.making.finish.finisher import Finisher
from recordsmith.making.finish.tfidf import Tfidf
from recordsmith.making.finish.vocabulary_ids import VocabularyIds

__all__ = ["BpeIds", "Finisher", "Tfidf", "VocabularyIds"]
