import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {test: {name: 'quick', include: ['test/{unit,contract,property,golden}/**/*.test.ts'], testTimeout: 20_000}},
      {test: {name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 180_000, hookTimeout: 180_000, fileParallelism: false}},
    ],
  },
});
