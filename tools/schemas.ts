// Writes the JSON Schemas of the contracts; with --check only says whether they are up to date.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaFiles, schemaText } from '@subluminal/contracts/schema-files';

const FOLDER = join('packages', 'contracts', 'schemas');

function main(args: readonly string[]): number {
  const unknown = args.filter((arg) => arg !== '--check');
  if (unknown.length > 0) {
    console.error(`Unknown argument ${unknown[0]}. Usage: tools/schemas.ts [--check]`);
    return 2;
  }
  const stale = staleFiles();
  if (args.includes('--check')) {
    for (const file of stale) console.error(`${join(FOLDER, file)} is stale.`);
    if (stale.length > 0) console.error('Run `npm run schemas` and commit the result.');
    return stale.length > 0 ? 1 : 0;
  }
  mkdirSync(FOLDER, { recursive: true });
  const files = schemaFiles();
  for (const file of stale) {
    const schema = files[file];
    if (schema === undefined) rmSync(join(FOLDER, file));
    else writeFileSync(join(FOLDER, file), schemaText(schema));
    console.log(`${schema === undefined ? 'Removed' : 'Wrote'} ${join(FOLDER, file)}.`);
  }
  if (stale.length === 0) console.log('The schemas are up to date.');
  return 0;
}

/** Files that differ from what the contracts say, or that no contract describes. */
function staleFiles(): string[] {
  const files = schemaFiles();
  const onDisk = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  const changed = Object.entries(files).filter(([file, schema]) => {
    const path = join(FOLDER, file);
    return !existsSync(path) || readFileSync(path, 'utf8') !== schemaText(schema);
  });
  const orphaned = onDisk.filter((file) => !Object.hasOwn(files, file));
  return [...changed.map(([file]) => file), ...orphaned];
}

process.exitCode = main(process.argv.slice(2));
