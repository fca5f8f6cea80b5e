// What a proposal is about, in words beside its diff: what a skill would have the agent do, what a server is and may
// do, what a tool may reach. Read from what is proposed, each time that it is shown.
import { compileManifest, toolRows } from '@subluminal/core/surface';
import { visible } from '@subluminal/core/visible';
import { sha256 } from '@subluminal/plane/crypto';
import { decodeUtf8 } from '@subluminal/plane/os';
import type { ServerEntry } from '@subluminal/plane/serve/config';
import { type ChangedFiles, MANIFESTS, type StewardConfig } from '../config/index.ts';
import { TIER_WORDS } from '../permissions/index.ts';
import { readToolManifest } from '../sandbox/index.ts';
import { changedValues } from './changed-values.ts';
import { capabilityWords } from './generated/capability-words.ts';
import { skillFindings } from './skills/scan-skill.ts';
import { readSkill, SKILL_FILE } from './skills/skill-file.ts';

export interface ProposedConfig {
  readonly changed: ChangedFiles;
  /** Undefined where the folder is broken. */
  readonly before: StewardConfig | undefined;
  readonly after: StewardConfig | undefined;
}

const LINE_LENGTH_MAX = 400;
const LINES_MAX = 100;

export async function proposalNotes(proposed: ProposedConfig): Promise<readonly string[]> {
  const texts = [...proposed.changed].map(
    ([path, bytes]) => [path, bytes === undefined ? undefined : (decodeUtf8(bytes) ?? '')] as const,
  );
  const manifests = await Promise.all(
    texts
      .filter(([path]) => path.startsWith(`${MANIFESTS}/`))
      .map(([path, text]) => manifestLines(path, text)),
  );
  const lines = [
    ...skillLines(texts),
    ...serverLines(proposed),
    ...manifests.flat(),
    ...texts.flatMap(([path, text]) => toolLines(path, text)),
    ...valueLines(proposed),
  ];
  const more = lines.length - LINES_MAX;
  const shown = lines.slice(0, LINES_MAX).map((line) => visible(line, LINE_LENGTH_MAX));
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

type Texts = readonly (readonly [path: string, text: string | undefined])[];

const SKILL_PATH = /^(skills\/[^/]+\/[^/]+)\/(.+)$/;

function skillLines(texts: Texts): readonly string[] {
  const folders = new Map<string, Map<string, string>>();
  for (const [path, text] of texts) {
    const [, folder, file] = SKILL_PATH.exec(path) ?? [];
    if (folder === undefined || file === undefined || text === undefined) continue;
    folders.set(folder, (folders.get(folder) ?? new Map<string, string>()).set(file, text));
  }
  return [...folders].flatMap(([folder, files]) => {
    const main = files.get(SKILL_FILE);
    const skill = main === undefined ? undefined : readSkill(main);
    return [
      ...(typeof skill === 'string' ? [`${folder} is not used: ${skill}`] : []),
      ...(typeof skill === 'object' ? [`The skill ${skill.name}: ${skill.description}`] : []),
      'A skill gives the agent no tool and no right that it does not have.',
      ...skillFindings(files).map(({ level, words }) =>
        level === 'danger' ? `DANGER ${words}` : words,
      ),
    ];
  });
}

/** What the files of settings say otherwise. Servers have lines of their own. */
function valueLines({ changed, before, after }: ProposedConfig): readonly string[] {
  if (before === undefined || after === undefined) return [];
  const { servers: _old, ...integrations } = before.integrations;
  const { servers: _new, ...others } = after.integrations;
  return [
    ...(changed.has('guardrails.yaml') ? changedValues(before.guardrails, after.guardrails) : []),
    ...(changed.has('integrations.yaml') ? changedValues(integrations, others) : []),
  ];
}

function serverLines({ before, after }: ProposedConfig): readonly string[] {
  if (before === undefined || after === undefined) return [];
  const old = new Map(before.servers.map((entry) => [entry.name, startWords(entry)]));
  const next = new Map(after.servers.map((entry) => [entry.name, startWords(entry)]));
  return [
    ...[...next].filter(([name, words]) => old.get(name) !== words).map(([, words]) => words),
    ...[...old.keys()].filter((name) => !next.has(name)).map((name) => `${name} is taken away.`),
  ];
}

/** How a server is reached. */
export function startWords(entry: ServerEntry): string {
  if (entry.kind === 'remote') return `${entry.name} is reached at ${entry.url}.`;
  const { name, command, env } = entry;
  const set = Object.entries(env).map(([variable, value]) => `${variable}=${value}`);
  return `${name} starts a program on this machine, with your rights: ${[...set, ...command].join(' ')}`;
}

async function manifestLines(path: string, text: string | undefined): Promise<readonly string[]> {
  if (text === undefined) return [`${path} is removed: then nothing limits what its server shows.`];
  const compiled = await compileManifest({ file: path, text }, { sha256 });
  if (!compiled.ok) return [];
  const { manifest } = compiled;
  const rows = toolRows(manifest);
  return [
    `${manifest.server}: a tool that is not listed ${TIER_WORDS[manifest.defaultTier]}.`,
    ...rows.map(
      ({ name, tier, limits }) =>
        `${manifest.server}.${name} ${TIER_WORDS[tier]}${limits === '' ? '' : `, ${limits}`}.`,
    ),
  ];
}

function toolLines(path: string, text: string | undefined): readonly string[] {
  if (!/^tools\/[^/]+\/tool\.capabilities\.json$/.test(path) || text === undefined) return [];
  const manifest = readToolManifest(text);
  return typeof manifest === 'string' ? [`${path}: ${manifest}`] : capabilityWords(manifest);
}
