// A bundle with every default expanded, in one spelling, without what no decision depends on.
import {
  type AnyArgMatch,
  type ArgsMatch,
  type Bundle,
  type CommandMatch,
  type ContentSection,
  definedFields,
  type FullContentSection,
  type FullTaintSection,
  fullContent,
  fullTaint,
  type HoursFields,
  type Match,
  type NameMatch,
  type Rule,
  SNAPSHOT_FORMAT,
  type SnapshotDocument,
  type TaintSection,
} from '@subluminal/contracts';
import { normalizeGlob } from '../../patterns/glob.ts';
import type { PathField } from '../match/path-patterns.ts';
import { ruleKind } from '../rules/index.ts';

/** Makes the document that is hashed, signed and stored. Normalising it again changes nothing. */
export function normalizeBundle(bundle: Bundle): SnapshotDocument {
  return {
    format: SNAPSHOT_FORMAT,
    policy_id: bundle.policy_id,
    version: bundle.version,
    mode: bundle.mode,
    hint_delivery: bundle.hint_delivery ?? 'error',
    defaults: {
      decision_on_error: bundle.defaults.decision_on_error,
      fail_open_read_tools: bundle.defaults.fail_open_read_tools ?? false,
    },
    selectors: bundle.selectors,
    rules: bundle.rules.map(normalizeRule),
    ...(bundle.content && { content: normalizeContent(bundle.content) }),
    ...(bundle.taint && { taint: normalizeTaint(bundle.taint) }),
    ...(bundle.rules.some(({ match }) => match.command !== undefined) && {
      commands: { opaque: bundle.commands?.opaque ?? 'ask' },
    }),
    ...(bundle.self_protection === 'off' && { self_protection: 'off' }),
  };
}

function normalizeRule(rule: Rule): Rule {
  const { description: _forPeople, ...rest } = rule;
  return ruleKind(rule.kind).normalize({ ...rest, match: normalizeMatch(rule.match) });
}

function normalizeMatch(match: Match): Match {
  const { subjects = [], ...rest } = match;
  const { server_name, tool_name, provider, model, risk_class, args, any_arg, command, time } =
    rest;
  const isDefault = subjects.every((subject) => subject === 'tool');
  return {
    ...rest,
    ...definedFields({
      subjects: isDefault ? undefined : sortedUnique(subjects),
      server_name: server_name && normalizeNames(server_name),
      tool_name: tool_name && normalizeNames(tool_name),
      provider: provider && normalizeNames(provider),
      model: model && normalizeNames(model),
      risk_class: risk_class && sortedUnique(risk_class),
      args: args && normalizeArgs(args),
      any_arg: any_arg && { ...normalizeNames(any_arg), ...normalizePaths(any_arg) },
      command: command && normalizeCommand(command),
      time: time && normalizeTime(time),
    }),
  };
}

/** The order of alternatives means nothing, so it must not change the hash. */
function normalizeNames({ glob, regex, ignore_case }: NameMatch): NameMatch {
  return definedFields({
    glob: glob && globsIn(glob),
    regex: regex && sortedUnique(regex),
    ignore_case: ignore_case || undefined,
  });
}

function normalizeArgs(args: ArgsMatch): ArgsMatch {
  const lists = ofPathFields((field) => args[field] && sortedLists(args[field]));
  return { ...args, ...definedFields(lists) };
}

function normalizeCommand(command: CommandMatch): CommandMatch {
  const { program, reads, writes, not_writes_under, hosts, args_under, not_args_under } = command;
  return {
    ...command,
    ...definedFields({
      program: program && globsIn(program),
      reads: reads && sortedUnique(reads),
      writes: writes && sortedUnique(writes),
      not_writes_under: not_writes_under && sortedUnique(not_writes_under),
      hosts: hosts && globsIn(hosts),
      args_under: args_under && sortedUnique(args_under),
      not_args_under: not_args_under && sortedUnique(not_args_under),
    }),
  };
}

function normalizeTime(time: NonNullable<Match['time']>): NonNullable<Match['time']> {
  const { hours, not_hours } = time;
  return {
    ...time,
    ...definedFields({
      hours: hours && normalizeHours(hours),
      not_hours: not_hours && normalizeHours(not_hours),
    }),
  };
}

function normalizeHours({ from, to, days, utc_offset }: HoursFields): HoursFields {
  return { from, to, ...definedFields({ days: days && sortedUnique(days), utc_offset }) };
}

function normalizePaths(match: AnyArgMatch): Pick<AnyArgMatch, PathField> {
  return definedFields(ofPathFields((field) => match[field] && sortedUnique(match[field])));
}

function ofPathFields<T>(read: (field: PathField) => T): { readonly [F in PathField]: T } {
  return {
    path_under: read('path_under'),
    not_path_under: read('not_path_under'),
    path_matches: read('path_matches'),
  };
}

function sortedLists(lists: StringLists): StringLists {
  const entries = Object.entries(lists).map(([key, list]) => [key, sortedUnique(list)] as const);
  return Object.fromEntries(entries);
}

type StringLists = { readonly [key: string]: readonly string[] };

// The sections beside the rules in one spelling, with every default written out.

function normalizeContent(section: ContentSection): FullContentSection {
  const full = fullContent(section);
  const suppressions = full.suppressions.map(({ rule, server, tool, fingerprint, expires }) => {
    return { rule, server, tool, fingerprint, expires };
  });
  return { ...full, suppressions: inOneOrder(suppressions) };
}

/** The order of sources stays: the first that fits holds. */
function normalizeTaint(section: TaintSection): FullTaintSection {
  const full = fullTaint(section);
  const { mode, tools } = full.rule_of_two;
  return {
    ...full,
    sources: full.sources.map((source) => ({ ...toolsOf(source), trust: source.trust })),
    sinks: inOneOrder(
      full.sinks.map((sink) => {
        return { kind: sink.kind, args: globsIn(sink.args), ...toolsOf(sink) };
      }),
    ),
    by_shape: sortedUnique(full.by_shape),
    allow: normalizeAllow(full.allow),
    rule_of_two: {
      mode,
      tools: inOneOrder(tools.map((tool) => ({ ...toolsOf(tool), adds: sortedUnique(tool.adds) }))),
    },
  };
}

function normalizeAllow(allow: FullTaintSection['allow']): FullTaintSection['allow'] {
  const lists = Object.entries(allow).map(([kind, globs]) => [kind, globsIn(globs)] as const);
  return Object.fromEntries(lists);
}

interface Tools {
  readonly server?: string;
  readonly tool?: string;
}

function toolsOf({ server, tool }: Tools): Tools {
  return definedFields({
    server: server && normalizeGlob(server),
    tool: tool && normalizeGlob(tool),
  });
}

function globsIn(globs: readonly string[]): readonly string[] {
  return sortedUnique(globs.map(normalizeGlob));
}

/** For lists whose order means nothing, so that it does not change the hash. */
function inOneOrder<T>(items: readonly T[]): readonly T[] {
  const byText = new Map(items.map((item) => [JSON.stringify(item), item]));
  return [...byText].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item);
}

function sortedUnique<T extends string>(values: readonly T[]): readonly T[] {
  return [...new Set(values)].toSorted();
}
