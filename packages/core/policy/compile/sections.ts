// The sections beside the rules in one spelling, with every default written out.
import {
  type ContentSection,
  type FullContentSection,
  type FullTaintSection,
  fullContent,
  fullTaint,
  type TaintSection,
} from '@subluminal/contracts';
import { normalizeGlob } from './glob.ts';

export function normalizeContent(section: ContentSection): FullContentSection {
  const full = fullContent(section);
  const suppressions = full.suppressions.map(({ rule, server, tool, fingerprint, expires }) => {
    return { rule, server, tool, fingerprint, expires };
  });
  return { ...full, suppressions: inOneOrder(suppressions) };
}

/** The order of sources stays: the first that fits holds. */
export function normalizeTaint(section: TaintSection): FullTaintSection {
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

function normalizeAllow({
  emails,
  hosts,
  urls,
  paths,
  commands,
}: FullTaintSection['allow']): FullTaintSection['allow'] {
  return {
    ...(emails && { emails: globsIn(emails) }),
    ...(hosts && { hosts: globsIn(hosts) }),
    ...(urls && { urls: globsIn(urls) }),
    ...(paths && { paths: globsIn(paths) }),
    ...(commands && { commands: globsIn(commands) }),
  };
}

interface Tools {
  readonly server?: string;
  readonly tool?: string;
}

function toolsOf({ server, tool }: Tools): Tools {
  return {
    ...(server !== undefined && { server: normalizeGlob(server) }),
    ...(tool !== undefined && { tool: normalizeGlob(tool) }),
  };
}

function globsIn(globs: readonly string[]): readonly string[] {
  return sortedUnique(globs.map(normalizeGlob));
}

/** For lists whose order means nothing, so that it does not change the hash. */
function inOneOrder<T>(items: readonly T[]): readonly T[] {
  const byText = new Map(items.map((item) => [JSON.stringify(item), item]));
  return [...byText.keys()].toSorted().flatMap((text) => {
    const item = byText.get(text);
    return item === undefined ? [] : [item];
  });
}

export function sortedUnique<T extends string>(values: readonly T[]): readonly T[] {
  return [...new Set(values)].toSorted();
}
