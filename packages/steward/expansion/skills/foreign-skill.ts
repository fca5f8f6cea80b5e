// A skill that somebody else has written, read from a folder. It becomes a proposal, and nothing more: until the user
// has merged that, no part of it is in the configuration.
import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { quote } from '@subluminal/core/visible';
import { decodeUtf8, readRegularFile, systemCode } from '@subluminal/plane/os';
import { type SkillFinding, skillFindings } from './scan-skill.ts';
import { readSkill, SKILL_FILE } from './skill-file.ts';

export interface ForeignSkill {
  readonly kind: 'skill';
  readonly name: string;
  /** By their paths in the configuration folder. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly findings: readonly SkillFinding[];
}

const FILES_MAX = 20;
const FILE_BYTES_MAX = 262_144;
const DEPTH_MAX = 2;
const FILE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;

/** `place` is a folder with a SKILL.md, or that file itself. */
export function readForeignSkill(place: string): ForeignSkill | Failure {
  const folder = basename(place) === SKILL_FILE ? resolve(place, '..') : resolve(place);
  const files = new Map<string, string>();
  const problem = collect({ folder, below: '', depth: 0 }, files);
  if (problem !== undefined) return refused(problem);
  const skill = readSkill(files.get(SKILL_FILE) ?? '');
  if (!files.has(SKILL_FILE)) return refused(`There is no ${SKILL_FILE} in ${quote(folder)}.`);
  if (typeof skill === 'string') return refused(`${SKILL_FILE}: ${skill}`);
  const { name } = skill;
  return {
    ...{ kind: 'skill', name },
    files: [...files].map(([path, text]) => ({ path: `skills/curated/${name}/${path}`, text })),
    findings: skillFindings(files),
  };
}

interface SkillFolder {
  readonly folder: string;
  /** The path from the skill, with `/` at its end unless it is empty. */
  readonly below: string;
  readonly depth: number;
}

/** Why it cannot be taken. Nothing is left out silently: what was not looked at must not come along. */
function collect(
  { folder, below, depth }: SkillFolder,
  files: Map<string, string>,
): string | undefined {
  const listed = entriesOf(folder);
  if (typeof listed === 'string') return listed;
  for (const entry of listed) {
    const path = `${below}${entry.name}`;
    if (!FILE_NAME.test(entry.name)) return `${quote(path)} is a name that a skill may not have.`;
    if (entry.isDirectory()) {
      if (depth + 1 >= DEPTH_MAX) return `${quote(path)} is too deep.`;
      const inner = { folder: join(folder, entry.name), below: `${path}/`, depth: depth + 1 };
      const problem = collect(inner, files);
      if (problem !== undefined) return problem;
      continue;
    }
    if (files.size >= FILES_MAX) return `It has more than ${FILES_MAX} files.`;
    const options = { bytesMax: FILE_BYTES_MAX, noFollow: true };
    const read = readRegularFile(join(folder, entry.name), options);
    if (read.kind !== 'read')
      return `${quote(path)} is no file of at most ${FILE_BYTES_MAX} bytes.`;
    const text = decodeUtf8(read.bytes);
    if (text === undefined || text.includes('\0')) return `${quote(path)} is no text.`;
    files.set(path, text);
  }
  return undefined;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) =>
      a.name.localeCompare(b.name),
    );
  } catch (cause) {
    return `${quote(folder)} cannot be read (${systemCode(cause)}).`;
  }
}

function refused(message: string): Failure {
  return failure('SUB_STEWARD_EXPANSION', message, 'Correct the skill, or choose another one.');
}
