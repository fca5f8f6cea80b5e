// A taint section that fits its shape → tests, each glob compiled once.
import {
  type FullTaintSection,
  fullTaint,
  type TaintSection,
  type TaintSink,
} from '@subluminal/contracts';
import { compileGlob } from '../patterns/glob.ts';
import type { SubjectKind } from './chains.ts';
import type { LeafPath } from './leaves.ts';
import type { RunFlag, SinkKind, Trust } from './types.ts';

export interface ToolName {
  readonly server: string;
  readonly tool: string;
}

export interface TaintPolicy {
  readonly onTaint: 'ask' | 'block' | 'tag';
  readonly trustedClears: 'earlier' | 'any';
  /** Whether what a tool answers is trusted. */
  trustOf(name: ToolName): Trust;
  /** The kinds of sink that an argument is, by the names on the way to it. */
  sinksAt(name: ToolName, path: LeafPath): ReadonlySet<SinkKind>;
  /** Sinks that a value is wherever it stands, by what it looks like. */
  readonly byShape: ReadonlySet<SinkKind>;
  /** Whether the section allows a value, even where untrusted content named it. */
  allows(subject: SubjectKind, value: string): boolean;
  readonly ruleOfTwo: 'off' | 'ask' | 'block';
  /** What a call of this tool brings into the run. */
  flagsOf(name: ToolName): ReadonlySet<RunFlag>;
  /** How a person is asked. */
  readonly approval: FullTaintSection['approval'];
}

type TextTest = (text: string) => boolean;

export function compileTaint(section: TaintSection = {}): TaintPolicy {
  const sources = (section.sources ?? []).map((rule) => ({ ...rule, fits: toolTest(rule) }));
  const written = section.sinks ?? [];
  const all = section.default_sinks === false ? written : [...written, ...DEFAULT_SINKS];
  const sinks = all.map((rule) => ({
    kind: rule.kind,
    fits: toolTest(rule),
    named: anyOf(rule.args.map(plainPattern)),
  }));
  const classes = (section.rule_of_two?.tools ?? []).map((rule) => {
    return { adds: rule.adds, fits: toolTest(rule) };
  });
  return {
    onTaint: section.on_taint ?? 'ask',
    trustedClears: section.trusted_clears ?? 'earlier',
    trustOf: (name) => {
      const rule = sources.find(({ fits }) => fits(name));
      return rule?.trust ?? section.default_trust ?? 'untrusted';
    },
    sinksAt: (name, path) => {
      const names = namesOn(path);
      const fitting = sinks.filter(({ fits, named }) => fits(name) && names.some(named));
      return new Set(fitting.map(({ kind }) => kind));
    },
    byShape: new Set<SinkKind>(section.by_shape ?? ['recipient', 'url']),
    allows: allowTest(section.allow ?? {}),
    ruleOfTwo: section.rule_of_two?.mode ?? 'off',
    approval: fullTaint(section).approval,
    flagsOf: (name) => {
      return new Set(classes.filter(({ fits }) => fits(name)).flatMap(({ adds }) => adds));
    },
  };
}

function toolTest(rule: { readonly server?: string; readonly tool?: string }) {
  const server = globTest(rule.server ?? '*');
  const tool = globTest(rule.tool ?? '*');
  return (name: ToolName) => server(name.server) && tool(name.tool);
}

/** The reader has compiled it before: a glob that fails here is a bug. */
function globTest(glob: string): TextTest {
  const compiled = compileGlob(glob);
  if (!compiled.ok) throw new Error(`glob: ${compiled.message}`);
  return compiled.test;
}

function anyOf(globs: readonly string[]): TextTest {
  const tests = globs.map(globTest);
  return (text) => tests.some((test) => test(text));
}

function plainPattern(pattern: string): string {
  // A dash inside of brackets is a range.
  return pattern.toLowerCase().replace(/[_\s]|-(?![^[\]]*\])/g, '');
}

/** Each name on the way, and the whole way: `message.to` is `message`, `to` and `message.to`. */
function namesOn(path: LeafPath): readonly string[] {
  const names = path
    .filter((step) => typeof step === 'string')
    .map((step) => step.toLowerCase().replace(/[_\s-]/g, ''));
  return names.length > 1 ? [...names, names.join('.')] : names;
}

function allowTest(allow: NonNullable<TaintSection['allow']>): TaintPolicy['allows'] {
  const lower = (globs: readonly string[] = []) => anyOf(globs.map((glob) => glob.toLowerCase()));
  const urls = lower(allow.urls);
  const hosts = lower(allow.hosts);
  const paths = anyOf(allow.paths ?? []);
  const tests: { readonly [S in SubjectKind]: TextTest } = {
    email: lower(allow.emails),
    host: (value) => hosts(value.slice(0, value.search(/[/?]|$/))) || urls(value),
    command: lower(allow.commands),
    // A path that climbs out of where it starts is in no folder that one could name.
    path: (value) => !value.startsWith('..') && paths(value),
    other: () => false,
  };
  return (subject, value) => tests[subject](value);
}

// Where a value leaves the run or changes something, by the names that servers give to arguments.

/** Names are compared without case, `_` and `-`: `chat_id` is also `chatId`. */
const NAMES: { readonly [kind in TaintSink['kind']]: string } = {
  recipient: `to cc bcc reply_to *recipient* *email* *mail_to* send_to forward_to *attendee* *invitee*
    guests participants members assignee* share_with user*name channel* chat_id conversation*
    room* thread_id *phone* msisdn *iban* *account_number* *account_id beneficiary* payee*
    creditor* wallet* *address *addresses`,
  url: `*url* *uri* *href* *link* *endpoint* *webhook* *callback* *redirect* *host* domain* origin
    remote* repo* registry server proxy image package*`,
  path: `*path* *file *files *file_name* *dir *directory* *folder* cwd workdir destination* dest
    target* source output`,
  command: `*command* cmd *script* shell exec* argv args arguments code run sql expression eval stdin
    entrypoint`,
  // Only where a call changes something.
  id: 'id ids *_id *_ids *_number owner repo*',
};

const DEFAULT_SINKS: readonly TaintSink[] = (
  ['recipient', 'url', 'path', 'command', 'id'] as const
).map((kind) => ({ kind, args: NAMES[kind].split(/\s+/) }));
