"""Benchmarks, run by asv; every figure stands beside one of plain git."""
