// Builds the page into `dist`, which the ledger daemon and the gateway serve as it is.
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { build } from 'esbuild';
import { defineConfig, type Plugin } from 'vite';

/** A table of endpoints as JSON, of each its path alone. */
function pathsOf(table: object): string {
  return JSON.stringify(table, [...Object.keys(table), 'path']);
}

/** Puts the paths themselves in place of what computes them. */
const evaluatePaths: Plugin = {
  name: 'evaluate-paths',
  async load(id) {
    if (!id.endsWith('/api/endpoint-paths.ts')) return undefined;
    const options = { bundle: true, write: false, format: 'esm' } as const;
    const { outputFiles } = await build({ entryPoints: [id], ...options });
    const [script] = outputFiles.map(({ contents }) => Buffer.from(contents).toString('base64'));
    const evaluated: unknown = await import(`data:text/javascript;base64,${script}`);
    const tables: readonly [string, object][] = Object.entries(evaluated ?? {});
    return tables.map(([name, table]) => `export const ${name} = ${pathsOf(table)};`).join('\n');
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [evaluatePaths, react(), tailwind()],
  build: {
    target: 'es2022',
    // The policy of the page allows no inline code and no data in place of files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { treeshake: { propertyReadSideEffects: false } },
  },
  logLevel: 'warn',
});
