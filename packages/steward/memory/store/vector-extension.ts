// Loads sqlite-vec, an optional package, into a database.
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isObject } from '@subluminal/contracts';
import { attempt, errorText } from '@subluminal/plane/os';
import type { Database } from '@subluminal/plane/sqlite';

const PACKAGE = 'sqlite-vec';

/** Nothing, or why there are no vectors. `from`: the program whose packages are looked through. */
export function loadVectorExtension(
  db: Database,
  from: string = process.argv[1] ?? process.execPath,
): string | undefined {
  try {
    const file = extensionFile(from);
    if (file === undefined) return `The package ${PACKAGE} is not installed.`;
    db.enableLoadExtension(true);
    db.loadExtension(file);
    return undefined;
  } catch (cause) {
    return `${PACKAGE} does not load: ${errorText(cause)}.`;
  } finally {
    db.enableLoadExtension(false);
  }
}

function extensionFile(from: string): string | undefined {
  // Not an import: the command is made of scripts, which cannot import what is not bundled.
  const loaded = attempt((): unknown => createRequire(realpathSync(from))(PACKAGE));
  if (!isObject(loaded) || typeof loaded['getLoadablePath'] !== 'function') return undefined;
  const file: unknown = Reflect.apply(loaded['getLoadablePath'], loaded, []);
  return typeof file === 'string' ? file : undefined;
}
