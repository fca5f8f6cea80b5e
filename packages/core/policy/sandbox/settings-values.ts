// Values in a client's settings, which may be anything, and hosts in rules.
import { isObject } from '@subluminal/contracts';
import type { DeniedName, LeftRule, SandboxPlan } from './settings.ts';

type Settings = { readonly [key: string]: unknown };

export function settingValue(settings: Settings, path: readonly string[]): unknown {
  let value: unknown = settings;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

export function settingFlag(settings: Settings, path: readonly string[]): boolean | undefined {
  const value = settingValue(settings, path);
  return typeof value === 'boolean' ? value : undefined;
}

export function settingTable(settings: Settings, path: readonly string[]): Settings {
  const value = settingValue(settings, path);
  return isObject(value) ? value : {};
}

export function settingText(settings: Settings, path: readonly string[]): string | undefined {
  const value = settingValue(settings, path);
  return typeof value === 'string' ? value : undefined;
}

/** A name, or all names below one: what every client understands. */
function isDomain(host: string): boolean {
  return /^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(host);
}

/** Those of the names that are domains. */
export function domainsIn(names: readonly DeniedName[]): readonly string[] {
  return [...new Set(names.map(({ name }) => name).filter(isDomain))];
}

export function unsayableHosts({ deniedHosts, onlyHosts }: SandboxPlan): readonly LeftRule[] {
  const only =
    onlyHosts?.hosts.map((name) => ({ name, rule_id: onlyHosts.rules.join(', ') })) ?? [];
  return [...deniedHosts, ...only]
    .filter(({ name }) => !isDomain(name))
    .map(({ name, rule_id }) => ({ rule_id, why: `${name} is not a domain` }));
}

/** The same reason for several rules. */
export function leftFor(rules: readonly string[], why: string): readonly LeftRule[] {
  return [...new Set(rules)].map((rule_id) => ({ rule_id, why }));
}

export function idsOf(items: readonly { readonly rule_id: string }[]): readonly string[] {
  return items.map(({ rule_id }) => rule_id);
}
