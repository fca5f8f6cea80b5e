// A new configuration folder: the example, with the models that the user has chosen, and its first commit.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { type Failure, failure, type IntegrationsFile, isFailure } from '@subluminal/contracts';
import { createPrivateFile, ensurePrivateFolder, systemCode } from '@subluminal/plane/os';
import { isSeq, parseDocument } from 'yaml';
import { hasStewardConfig } from './config-folder.ts';
import { commitPaths, git, initRepository } from './git.ts';

export interface NewConfig {
  readonly folder: string;
  /** The folder of the example that comes with the product. */
  readonly example: string;
  /** In place of those of the example. */
  readonly models?: { readonly [P in keyof IntegrationsFile['models']]?: readonly ModelChoice[] };
}

type ModelChoice = Partial<IntegrationsFile['models']['agent'][number]>;

export interface WrittenConfig {
  readonly kind: 'written';
  /** Below the folder. */
  readonly files: readonly string[];
}

/** Writes every file, or nothing when there is a configuration already. */
export async function writeStewardConfig(options: NewConfig): Promise<WrittenConfig | Failure> {
  const { folder, example, models } = options;
  const refused = ensurePrivateFolder(folder);
  if (refused !== undefined) return refused;
  // Before anything is written: a folder without a history is of no use.
  const version = await git(folder, ['version']);
  if (isFailure(version)) return version;
  const taken = readdirSync(folder).filter((name) => name !== '.git');
  if (taken.length > 0) {
    const [message, fix] = hasStewardConfig(folder)
      ? [
          `There is a configuration already in ${folder}.`,
          'Change its files, or name another folder.',
        ]
      : [`${folder} is not empty.`, 'Name an empty folder, or a new one.'];
    return failure('SUB_STEWARD_FILE', message, fix);
  }
  const files = filesIn(example);
  try {
    for (const name of files) {
      const text = readFileSync(join(example, name), 'utf8');
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      createPrivateFile(path, name === 'integrations.yaml' ? withModels(text, models) : text);
    }
    for (const name of ['skills', 'tools']) {
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    }
  } catch (cause) {
    const message = `${folder} cannot be written (${systemCode(cause)}).`;
    return failure('SUB_FILE_WRITE', message, 'Check the folder, its permissions and the disk.');
  }
  const made = await initRepository(folder);
  if (made !== undefined) return made;
  const message = 'Start the configuration of Steward';
  const committed = await commitPaths(folder, { message, paths: files });
  return isFailure(committed) ? committed : { kind: 'written', files };
}

/** The comments of the example stay. */
function withModels(text: string, models: NewConfig['models']): string {
  if (models === undefined) return text;
  const document = parseDocument(text);
  for (const [purpose, chain] of Object.entries(models)) {
    const path = ['models', purpose];
    const before = document.getIn(path);
    const items = chain.map((model) => document.createNode(model, { flow: true }));
    if (isSeq(before)) before.items = items;
    else document.setIn(path, document.createNode(items));
  }
  return document.toString({ lineWidth: 0 });
}

/** The files below a folder, by their paths with `/`. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .map((path) => path.split(sep).join('/'))
    .toSorted();
}
