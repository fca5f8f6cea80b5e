// What stands in a skill that its reader should know before they agree: orders against the user, hidden text, secrets,
// and what its commands would reach. Nothing is run.
import { basename, extname } from 'node:path/posix';
import { scanText } from '@subluminal/core/detect';
import { type OpaqueReason, outlineCommand } from '@subluminal/core/shell';
import { visible } from '@subluminal/core/visible';
import { readSkill, SKILL_FILE } from './skill-file.ts';

export interface SkillFinding {
  /** A danger should not be approved without knowing why it is there. */
  readonly level: 'danger' | 'note';
  readonly words: string;
  /** What it holds must not be kept at all. */
  readonly isSecret?: boolean;
}

const WORDS_MAX = 300;
const FINDINGS_MAX = 40;
const NAMES_MAX = 10;
const FENCE = /^[ \t]*(`{3,}|~{3,})[ \t]*(\S*)/;
const SHELLS = new Set(['sh', 'bash', 'zsh', 'shell', 'console', 'terminal']);
const SCRIPTS = new Set(['.sh', '.bash', '.zsh']);
const TEXTS = new Set(['.md', '.txt', '.json', '.yaml', '.yml', '.csv', '']);
const LINK = /https?:\/\/[^\s)"'<>\]]{1,500}/g;
const BEFORE_LINK = 160;
const LINK_ORDER =
  /\b(?:download|install|run|execute|fetch|follow|obey|paste|import|curl|wget|open|visit|read)\b[^\n]*$/i;
const PRIVATE_PATH =
  /(?:^|\/)(?:\.ssh|\.gnupg|\.aws|\.kube|\.docker|\.netrc|\.npmrc|\.pypirc|\.env|\.subluminal|\.git-credentials|id_(?:rsa|ed25519|ecdsa)|keychains?|cookies|login data|wallet(?:\.dat)?|shadow)(?:$|[/.*])/i;
const OPAQUE: { readonly [R in OpaqueReason]: string | undefined } = {
  dynamic_program: 'runs a program whose name is only known when it runs',
  dynamic_argument: undefined,
  inline_code: 'runs code of another language that was not looked into',
  decoded_script: 'runs what another program prints or decodes',
  written_script: 'runs a script that it writes or downloads first',
  sourced_script: 'runs another script in its shell',
  redefined: 'gives names of programs another meaning',
  terminal: undefined,
  too_large: 'is too large to be read',
  unreadable: undefined,
};

/** Of the files of one skill, by their paths below its folder. */
export function skillFindings(files: ReadonlyMap<string, string>): readonly SkillFinding[] {
  const found = [...files].flatMap(([path, text]) => [
    ...contentFindings(path, text),
    ...linkFindings(path, text),
    ...commandsIn(path, text).flatMap((command) => commandFindings(path, command)),
    ...(isProgram(path) ? [note(`${path}: a program that was not looked into.`)] : []),
    ...grantFindings(path, text),
  ]);
  const once = new Map(found.map((one) => [one.words, one]));
  // Dangers first.
  const sorted = [...once.values()].toSorted((a, b) => a.level.localeCompare(b.level));
  return sorted.slice(0, FINDINGS_MAX);
}

function contentFindings(path: string, text: string): readonly SkillFinding[] {
  const { findings, unscanned } = scanText(text, {
    fingerprint: () => '',
    classes: ['secret', 'injection', 'hidden_text'],
    strictness: 'definition',
  });
  return [
    ...findings
      .filter(({ confidence }) => confidence !== 'hint')
      .map((one): SkillFinding => {
        const line = text.slice(0, one.start).split('\n').length;
        const words = visible(`${path}:${line}: ${one.label} (${one.rule}).`, WORDS_MAX);
        return { level: 'danger', words, isSecret: one.class === 'secret' };
      }),
    ...(unscanned.length > 0 ? [danger(`${path}: not all of it could be looked at.`)] : []),
  ];
}

function linkFindings(path: string, text: string): readonly SkillFinding[] {
  if (SCRIPTS.has(extname(path))) return [];
  return [...text.matchAll(LINK)].flatMap(({ 0: link, index }) => {
    const before = text.slice(Math.max(0, index - BEFORE_LINK), index);
    if (!LINK_ORDER.test(before) || !URL.canParse(link)) return [];
    const { host } = new URL(link);
    return [note(`${path}: sends its reader to ${host}; what stands there can change.`)];
  });
}

/** A script, and the blocks of a text that are marked as commands. */
function commandsIn(path: string, text: string): readonly string[] {
  if (SCRIPTS.has(extname(path))) return [text];
  const blocks: string[] = [];
  let open:
    | { readonly fence: string; readonly lines: string[]; readonly isShell: boolean }
    | undefined;
  for (const line of text.split('\n')) {
    const [, fence, language = ''] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== undefined) {
        open = { fence, lines: [], isShell: SHELLS.has(language.toLowerCase()) };
      }
    } else if (fence?.startsWith(open.fence)) {
      if (open.isShell) blocks.push(open.lines.join('\n'));
      open = undefined;
    } else open.lines.push(line.replace(/^[ \t]*[$>] /, ''));
  }
  return open?.isShell ? [...blocks, open.lines.join('\n')] : blocks;
}

function commandFindings(path: string, command: string): readonly SkillFinding[] {
  const outline = outlineCommand(command);
  const { programs, reads, trees, writes, removes, hosts, opaque } = outline;
  const touched = [...reads, ...trees, ...writes].filter((one) => PRIVATE_PATH.test(one));
  const dangers = [
    ...[...new Set(opaque.map(({ why }) => OPAQUE[why]))].map((words) => words && `${words}.`),
    listed('touches private files', touched),
    listed('removes or replaces', removes),
    listed('talks to', hosts),
  ];
  const uses = listed(
    'uses',
    programs.map(({ name }) => name),
  );
  return [
    ...dangers.flatMap((words) =>
      words === undefined ? [] : [danger(`${path}: a command ${words}`)],
    ),
    ...(uses === undefined ? [] : [note(`${path}: a command ${uses}`)]),
  ];
}

function grantFindings(path: string, text: string): readonly SkillFinding[] {
  const skill = basename(path) === SKILL_FILE ? readSkill(text) : undefined;
  if (typeof skill !== 'object' || !skill.wantsTools) return [];
  return [note(`${path}: it asks for tools in \`allowed-tools\`. It gets none by that.`)];
}

function isProgram(path: string): boolean {
  const ending = extname(path).toLowerCase();
  return !TEXTS.has(ending) && !SCRIPTS.has(ending);
}

/** Each name once, behind what is said of them; undefined for none. */
function listed(what: string, names: readonly string[]): string | undefined {
  const once = [...new Set(names)].slice(0, NAMES_MAX);
  return once.length === 0 ? undefined : `${what}: ${once.join(', ')}.`;
}

function danger(words: string): SkillFinding {
  return { level: 'danger', words: visible(words, WORDS_MAX) };
}

function note(words: string): SkillFinding {
  return { level: 'note', words: visible(words, WORDS_MAX) };
}
