"""Commands of the identification: parameters from a log, and the motion that makes them identifiable."""
