// The example configuration of a gateway, written to a folder.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orThrow } from '../input/command.ts';
import { packageFile } from '../input/package-file.ts';
import { errorCode } from '../input/read-file.ts';
import { createNewFile, occupied, unwritable } from '../input/write-file.ts';

const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;

/** Writes every file of the example, or none when one of them is there already. Returns their names. */
export async function writeExample(dir: string): Promise<readonly string[]> {
  const example = orThrow(packageFile('examples', 'gateway'));
  const names = filesIn(example);
  for (const name of names) {
    const taken = await occupied(join(dir, name));
    if (taken === undefined) continue;
    orThrow({ ...taken, fix: 'Choose an empty folder; nothing was written.' });
  }
  for (const name of names) {
    const path = join(dir, name);
    try {
      mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
    } catch (cause) {
      orThrow(unwritable(dirname(path), errorCode(cause)));
    }
    const text = readFileSync(join(example, name), 'utf8');
    orThrow(await createNewFile({ path, text, mode: FILE_MODE }));
  }
  return names;
}

/** The files below a folder, those at its top first. */
function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const own = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const inner = entries.filter((entry) => entry.isDirectory());
  return [
    ...own.toSorted(),
    ...inner.flatMap(({ name }) => filesIn(join(folder, name)).map((file) => join(name, file))),
  ];
}
