"""Is it up?"""
