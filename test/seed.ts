import fc from 'fast-check'

// `npm test` draws the same examples each time, so that it never fails for what nobody has changed; the full run draws
// others each time. fast-check prints the seed of a failure, and `KX_FUZZ_SEED` repeats it.
fc.configureGlobal({seed: Number(process.env.KX_FUZZ_SEED) || (process.env.KX_TEST_FULL ? Date.now() : 20_261_129)})
