"""The page of tendon-driven robots."""
