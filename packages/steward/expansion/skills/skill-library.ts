// The skills of the configuration folder, read when they are needed: a merged one is there at once, a removed one gone.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { neutral } from '@subluminal/core/detect';
import { visible } from '@subluminal/core/visible';
import { attempt, decodeUtf8, readRegularFile } from '@subluminal/plane/os';
import { readSkill, SKILL_BYTES_MAX, SKILL_FILE, SKILL_NAME, type Skill } from './skill-file.ts';

/** Who wrote it: the agent, or somebody else. */
export const SKILL_ORIGINS = ['curated', 'agent-authored'] as const;
export type SkillOrigin = (typeof SKILL_ORIGINS)[number];

export interface InstalledSkill extends Skill {
  readonly origin: SkillOrigin;
}

export interface InstalledSkills {
  readonly skills: readonly InstalledSkill[];
  /** Skills that are not used, and why. */
  readonly problems: readonly string[];
}

export interface SkillLibrary {
  list(): InstalledSkills;
  /** Skills that fit a request, as the model is told them; empty when none does. */
  matching(request: string): string;
}

const SKILLS_MAX = 200;
const MATCHES_MAX = 3;
const MATCHED_LENGTH_MAX = 12_000;
const REQUEST_LENGTH_MAX = 4_000;
const NAME_WEIGHT = 2;
/** One word of the name, or two of the description. */
const SCORE_MIN = 2;

export function skillLibrary(folder: () => string): SkillLibrary {
  return {
    list: () => installedSkills(folder()),
    matching: (request) => matchingText(installedSkills(folder()).skills, request),
  };
}

function installedSkills(folder: string): InstalledSkills {
  const skills = new Map<string, InstalledSkill>();
  const problems: string[] = [];
  for (const origin of SKILL_ORIGINS) {
    const listed = attempt(() => readdirSync(join(folder, origin), { withFileTypes: true })) ?? [];
    const names = listed.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    if (names.length > SKILLS_MAX) problems.push(`There are more than ${SKILLS_MAX} in ${origin}.`);
    for (const name of names.toSorted().slice(0, SKILLS_MAX)) {
      const skill = SKILL_NAME.test(name) ? readFolder(join(folder, origin, name)) : 'No name.';
      const place = `skills/${origin}/${visible(name, 100)}`;
      if (typeof skill === 'string') problems.push(`${place}: ${skill}`);
      else if (skill.name !== name) problems.push(`${place}: It has another name than its folder.`);
      else if (skills.has(name)) problems.push(`${place}: There is another skill of this name.`);
      else skills.set(name, { ...skill, origin });
    }
  }
  return { skills: [...skills.values()], problems };
}

function readFolder(folder: string): Skill | string {
  const read = readRegularFile(join(folder, SKILL_FILE), {
    bytesMax: SKILL_BYTES_MAX,
    noFollow: true,
  });
  if (read.kind !== 'read') return `${SKILL_FILE} cannot be read.`;
  const text = decodeUtf8(read.bytes);
  return text === undefined ? `${SKILL_FILE} is no UTF-8.` : readSkill(text);
}

function matchingText(skills: readonly InstalledSkill[], request: string): string {
  const wanted = wordsOf(request.slice(0, REQUEST_LENGTH_MAX));
  const matches = skills
    .map((skill) => ({ skill, score: scoreOf(skill, wanted) }))
    .filter(({ score }) => score >= SCORE_MIN)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MATCHES_MAX);
  let room = MATCHED_LENGTH_MAX;
  const texts: string[] = [];
  for (const { skill } of matches) {
    const text = neutral(`### ${skill.name}\n${skill.description}\n\n${skill.body}`);
    room -= text.length;
    // A part of a procedure may be worse than none: the agent can still read it as a whole.
    texts.push(room >= 0 ? text : `### ${skill.name}\nRead it with skills.read.`);
  }
  return texts.join('\n\n');
}

function scoreOf({ name, description }: Skill, wanted: ReadonlySet<string>): number {
  const named = wordsOf(name);
  const described = [...wordsOf(description)].filter((word) => !named.has(word));
  const hits = (words: Iterable<string>) => [...words].filter((word) => wanted.has(word)).length;
  return NAME_WEIGHT * hits(named) + hits(described);
}

const WORD = /[\p{L}\p{N}]{3,}/gu;
const ENDING = /(?:ing|ed|es|s)$/;
const COMMON = new Set(
  'the and for with from this that what when where how you your can could would please use used make get let not are was has have into about all any its'.split(
    ' ',
  ),
);

function wordsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(WORD) ?? [];
  return new Set(
    words
      .filter((word) => !COMMON.has(word))
      .map((word) => (word.length > 4 ? word.replace(ENDING, '') : word)),
  );
}
