// Programs that the tests start again and again, each as one file: what is written on the official SDK
// loads hundreds of modules, which costs more than all that a test wants of it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const BUNDLES = join(ROOT, 'node_modules', '.cache', 'subluminal', 'bundled');
// In parts, because tools/run.mjs replaces it wherever it is written.
const META_URL = ['import', 'meta', 'url'].join('.');
// CommonJS packages in the bundle call require() for Node's own modules, which ESM lacks.
const BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  `const require = __createRequire(${META_URL});`,
].join('\n');

/** The same program as one file, which is kept for as long as the program and the packages are the same. */
export function bundled(entry: string): string {
  const hash = createHash('sha256').update(entry).update(readFileSync(entry));
  hash.update(readFileSync(join(ROOT, 'package-lock.json')));
  const name = `${basename(entry, extname(entry))}.mjs`;
  const file = join(BUNDLES, hash.digest('hex').slice(0, 16), name);
  if (!existsSync(file)) writeBundle(file, entry);
  return file;
}

export function writeBundle(file: string, entry: string): void {
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'silent',
    banner: { js: BANNER },
    // What it reads beside itself is still where it was.
    define: { [META_URL]: JSON.stringify(pathToFileURL(entry).href) },
  });
  mkdirSync(dirname(file), { recursive: true });
  // Several tests may be at it.
  const draft = `${file}.${process.pid}.${performance.now()}`;
  writeFileSync(draft, outputFiles[0]?.contents ?? '');
  renameSync(draft, file);
}

/** The official server that has everything, on its stdin and stdout, or on the port in `PORT`. */
export function everythingServer(transport: 'stdio' | 'streamableHttp' | 'sse' = 'stdio'): string {
  const url = import.meta.resolve(
    `@modelcontextprotocol/server-everything/dist/transports/${transport}.js`,
  );
  return bundled(fileURLToPath(url));
}

/** The official server for files. */
export function filesystemServer(): string {
  const url = import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
  return bundled(fileURLToPath(url));
}
