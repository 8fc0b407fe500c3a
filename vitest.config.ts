import {defineConfig} from 'vitest/config'

// Three kinds of tests (docs/DESIGN.md, "Tests"): unit tests need nothing, cluster tests need real brokers and run one
// after another, browser tests need Chromium.
const common = {disableConsoleIntercept: true, retry: 0, setupFiles: ['test/seed.ts']}

export default defineConfig({
  test: {
    projects: [
      {test: {...common, name: 'unit', include: ['test/unit/**/*.test.ts', 'test/*.test.ts'], testTimeout: 30_000}},
      {
        test: {
          ...common,
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...common,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
