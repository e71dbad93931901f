"""Google's Gemini protocol ``generateContent`` through its SDK."""
