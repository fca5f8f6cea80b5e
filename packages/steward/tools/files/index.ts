// Files of the folders that the user has opened: looked at freely, changed only by proposals that the user decides on.
import { type Failure, isFailure } from '@subluminal/contracts';
import {
  array,
  closed,
  defaulted,
  integer,
  optional,
  required,
  string,
} from '@subluminal/contracts/shape';
import { errorAnswer, type OwnAnswer, type OwnServer, ownTool } from '@subluminal/plane/agent-run';
import { type ChangeSet, type ProposedFile, type Staging, titleOf } from '../../staging/index.ts';
import { editText, textContent } from './edit-text.ts';
import { listFolder, readText } from './look.ts';
import { searchFiles } from './search-files.ts';

export interface FilesServerOptions {
  readonly staging: Staging;
  /** The run that proposes. */
  readonly runId: () => string;
}

const CONTENT_LENGTH_MAX = 1_000_000;
const EDITS_MAX = 50;
const STATUS_MAX = 20;

const path = required(
  string({ lengthMax: 4_096 }),
  'The path: absolute, or relative to the workspace.',
);
const about = {
  why: defaulted(string({ lengthMin: 0, lengthMax: 1_024 }), '', 'What the change is for.'),
  change: optional(
    string({ lengthMax: 64 }),
    'The id of an open change of yours, to put this file into it.',
  ),
};
const folder = defaulted(string({ lengthMax: 4_096 }), '.', 'The folder; the workspace.');

const LIST = closed({ path: folder });
const READ = closed({
  path,
  from_line: defaulted(integer({ min: 1, max: 10_000_000 }), 1, 'The first line.'),
  lines: defaulted(integer({ min: 1, max: 5_000 }), 2_000, 'How many lines.'),
});
const SEARCH = closed({
  text: optional(string({ lengthMax: 500 }), 'Text in a line, in any case.'),
  name: optional(string({ lengthMax: 200 }), 'A pattern of file names, such as *.md.'),
  path: folder,
});
const WRITE = closed({
  path,
  content: required(
    string({ lengthMin: 0, lengthMax: CONTENT_LENGTH_MAX }),
    'The whole text of the file.',
  ),
  ...about,
});
const EDIT = closed({
  path,
  edits: defaulted(
    array(
      closed({
        find: required(string({ lengthMax: CONTENT_LENGTH_MAX }), 'Text that stands there once.'),
        replace: required(
          string({ lengthMin: 0, lengthMax: CONTENT_LENGTH_MAX }),
          'What goes in its place.',
        ),
      }),
      { itemsMax: EDITS_MAX },
    ),
    [],
    'Changes of its text, one after the other.',
  ),
  new_path: optional(string({ lengthMax: 4_096 }), 'A new path, to move or rename the file.'),
  ...about,
});
const DELETE = closed({ path, ...about });

const READS = { readOnlyHint: true } as const;
const PROPOSES = { idempotentHint: true, destructiveHint: false } as const;

export function filesServer({ staging, runId }: FilesServerOptions): OwnServer {
  const { roots } = staging;
  const propose = async (file: ProposedFile, asked: ProposalArgs, key: string) => {
    const proposal = { key, runId: runId(), why: asked.why, files: [file], into: asked.change };
    return proposed(await staging.stage(proposal));
  };
  return {
    name: 'files',
    instructions: `Files in ${roots.folders.join(', ')}. Changes are proposals: the user sees a diff and decides.`,
    tools: [
      ownTool({
        name: 'list',
        description: 'Lists a folder.',
        input: LIST,
        annotations: READS,
        call: (args) => Promise.resolve(listFolder(roots, args.path)),
      }),
      ownTool({
        name: 'read',
        description: 'Reads a text file, or a range of its lines.',
        input: READ,
        annotations: READS,
        call: (args) => Promise.resolve(readText(roots, args)),
      }),
      ownTool({
        name: 'search',
        description:
          'Finds files by their name and lines by their text. Hidden files are left out.',
        input: SEARCH,
        annotations: READS,
        call: (args, { signal }) => searchFiles(roots, args, signal),
      }),
      ownTool({
        name: 'propose_write',
        description: 'Proposes a new file, or a new text for a file. The user decides.',
        input: WRITE,
        annotations: PROPOSES,
        call: (args, { key }) => {
          const next = () => textContent(args.content);
          return propose({ path: args.path, next }, args, key);
        },
      }),
      ownTool({
        name: 'propose_edit',
        description: 'Proposes changes in the text of a file, or another path for it.',
        input: EDIT,
        annotations: PROPOSES,
        call: (args, { key }) => {
          const next = (now: Buffer | undefined) => editText(now, args.edits);
          return propose({ path: args.path, to: args.new_path, next }, args, key);
        },
      }),
      ownTool({
        name: 'propose_delete',
        description: 'Proposes to delete a file. The user decides.',
        input: DELETE,
        annotations: PROPOSES,
        call: (args, { key }) =>
          propose({ path: args.path, next: () => ({ kind: 'gone' }) }, args, key),
      }),
      ownTool({
        name: 'status',
        description: 'Says what became of proposed changes, the newest first.',
        input: closed({}),
        annotations: READS,
        call: () => Promise.resolve(status(staging)),
      }),
    ],
  };
}

interface ProposalArgs {
  readonly why: string;
  readonly change?: string;
}

function proposed(set: ChangeSet | Failure): OwnAnswer {
  if (isFailure(set)) return errorAnswer(set);
  const text =
    set.state === 'open'
      ? `Proposed as ${set.id}. Nothing is changed until the user approves it.`
      : `${set.id} is ${set.state.replaceAll('_', ' ')}.`;
  return { text, structured: { change: set.id, state: set.state } };
}

function status(staging: Staging): OwnAnswer {
  const sets = staging.list().slice(0, STATUS_MAX);
  const lines = sets.map((set) => {
    const edited = set.is_modified === undefined ? '' : ', edited by the user';
    return `${set.id} ${set.state.replaceAll('_', ' ')}${edited}: ${titleOf(set)}`;
  });
  return { text: lines.length === 0 ? 'No changes were proposed.' : lines.join('\n') };
}
