// The sections of two policies as one: field by field, the stricter value. What exempts from a
// section counts only where both policies have it.
import type { FullContentSection, FullTaintSection } from '@subluminal/contracts';

type ContentAction = FullContentSection['outbound']['secret'];
type DefinitionAction = FullContentSection['definitions']['secret'];
type TaintSource = FullTaintSection['sources'][number];

const CONFIDENCES = ['certain', 'likely', 'hint'] as const;

/** How a person is asked is neither strict nor mild: that of the user holds. */
export function stricterContent(
  user: FullContentSection,
  project: FullContentSection,
): FullContentSection {
  return {
    outbound: mergeActions(user.outbound, project.outbound, stricterAction),
    inbound: mergeActions(user.inbound, project.inbound, stricterAction),
    definitions: mergeActions(user.definitions, project.definitions, stricterDefinition),
    confidence_min: later(CONFIDENCES, user.confidence_min, project.confidence_min),
    block_confidence: later(CONFIDENCES, user.block_confidence, project.block_confidence),
    unscanned: stricterUnscanned(user.unscanned, project.unscanned),
    external_content: later(['off', 'mark'], user.external_content, project.external_content),
    max_result_chars: Math.min(user.max_result_chars, project.max_result_chars),
    approval: user.approval,
    suppressions: user.suppressions.filter((one) => includesSame(project.suppressions, one)),
  };
}

export function stricterTaint(user: FullTaintSection, project: FullTaintSection): FullTaintSection {
  return {
    on_taint: later(['tag', 'ask', 'block'], user.on_taint, project.on_taint),
    sources: lessTrustedSources(user, project),
    default_trust: later(['trusted', 'untrusted'], user.default_trust, project.default_trust),
    trusted_clears: later(['any', 'earlier'], user.trusted_clears, project.trusted_clears),
    sinks: [...user.sinks, ...project.sinks],
    default_sinks: user.default_sinks || project.default_sinks,
    by_shape: [...new Set([...user.by_shape, ...project.by_shape])],
    allow: allowedByBoth(user, project),
    rule_of_two: {
      mode: later(['off', 'ask', 'block'], user.rule_of_two.mode, project.rule_of_two.mode),
      tools: [...user.rule_of_two.tools, ...project.rule_of_two.tools],
    },
    approval: user.approval,
  };
}

/** Whichever stands later in a list from the mildest to the strictest. */
function later<V>(order: readonly V[], one: V, other: V): V {
  return order.indexOf(other) > order.indexOf(one) ? other : one;
}

type Actions<A> = { readonly [C in keyof FullContentSection['outbound']]: A };

/** The actions on each class of findings, made from those of two policies. */
function mergeActions<A>(
  user: Actions<A>,
  project: Actions<A>,
  merge: (user: A, project: A) => A,
): Actions<A> {
  return {
    secret: merge(user.secret, project.secret),
    personal: merge(user.personal, project.personal),
    injection: merge(user.injection, project.injection),
    hidden_text: merge(user.hidden_text, project.hidden_text),
  };
}

function stricterDefinition(user: DefinitionAction, project: DefinitionAction): DefinitionAction {
  return later(['allow', 'tag', 'block'], user, project);
}

/** An approved call is not redacted: where one policy redacts and one asks, neither is enough. */
function stricterAction(user: ContentAction, project: ContentAction): ContentAction {
  const both = new Set([user, project]);
  if (both.has('redact') && both.has('ask')) return 'block';
  return later(['allow', 'tag', 'redact', 'ask', 'block'], user, project);
}

/** `follow` may come to `block`, and where it comes to less, `ask` is stricter. */
function stricterUnscanned(
  user: FullContentSection['unscanned'],
  project: FullContentSection['unscanned'],
): FullContentSection['unscanned'] {
  const both = new Set([user, project]);
  if (both.has('follow') && both.has('ask')) return 'block';
  return later(['allow', 'tag', 'follow', 'ask', 'block'], user, project);
}

/**
 * The first source that fits holds, so all that are untrusted come first. A trusted one counts where
 * the other policy has it too, or trusts everything that it does not name.
 */
function lessTrustedSources(
  user: FullTaintSection,
  project: FullTaintSection,
): readonly TaintSource[] {
  const untrusted = [...user.sources, ...project.sources].filter(
    ({ trust }) => trust !== 'trusted',
  );
  const trustedIn = (section: FullTaintSection, other: FullTaintSection): readonly TaintSource[] =>
    section.sources.filter(
      (source) =>
        source.trust === 'trusted' &&
        (other.default_trust === 'trusted' || includesSame(other.sources, source)),
    );
  return [...untrusted, ...trustedIn(user, project), ...trustedIn(project, user)];
}

function allowedByBoth(user: FullTaintSection, project: FullTaintSection) {
  const kinds = ['emails', 'hosts', 'urls', 'paths', 'commands'] as const;
  const lists = kinds.map((kind) => {
    const globs = user.allow[kind] ?? [];
    return [kind, globs.filter((glob) => project.allow[kind]?.includes(glob))] as const;
  });
  return Object.fromEntries(lists);
}

/** Both are normalised, so equal values have equal texts. */
function includesSame<V>(list: readonly V[], one: V): boolean {
  const text = JSON.stringify(one);
  return list.some((other) => JSON.stringify(other) === text);
}
