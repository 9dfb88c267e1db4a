"""The vocabulary: frozen values shared by every layer. May import nothing of Pointsman but itself."""
