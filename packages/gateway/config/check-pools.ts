// Endpoints, pools and prices against each other.
import type { PoolsFile } from '@subluminal/contracts';
import { priceBook } from '@subluminal/core/routing';
import type { Path } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { checkName, checkTeam } from './check-name.ts';
import { checkedUrl } from './check-url.ts';
import type { ConfigFile, ConfigFiles } from './config-file.ts';
import { isPrivateHost } from './private-host.ts';
import { pricesOf } from './written-prices.ts';

type EndpointEntry = PoolsFile['provider_endpoints'][string];
type PoolEntry = PoolsFile['pools'][string];
type MemberEntry = PoolEntry['members'][number];

/** Policies route to it what may not leave. */
const PRIVATE_POOL = 'private_strong';
const KEYLESS: ReadonlySet<string> = new Set(['openai_compat', 'litellm']);

export function checkPools(files: ConfigFiles): void {
  const { pools: file } = files;
  const { value } = file;
  if (value === undefined) return;
  for (const [id, endpoint] of Object.entries(value.provider_endpoints)) {
    checkEndpoint(endpoint, ['provider_endpoints', id], files);
  }
  for (const [name, pool] of Object.entries(value.pools)) {
    checkPool({ name, pool, value, file });
  }
  checkFallbacks(value, file);
  checkPrices(value, files);
}

function checkEndpoint(endpoint: EndpointEntry, path: Path, files: ConfigFiles): void {
  const { pools } = files;
  const { provider, url, key_ref, team_key_refs = {}, trust_tier, deployments } = endpoint;
  const at = [...path, 'url'];
  const parsed = checkedUrl(url, { file: pools, path: at, schemes: ['https', 'http'] });
  if (parsed !== undefined && (parsed.search !== '' || parsed.hash !== '')) {
    const message = 'a base URL has no query and no fragment';
    pools.report({ code: 'SUB_GATEWAY_VALUE', path: at, message, fix: 'Remove it.' });
  }
  if (parsed?.protocol === 'http:' && !isPrivateHost(parsed.hostname)) {
    const message = 'prompts and keys would cross the internet in plain text';
    pools.report({ code: 'SUB_GATEWAY_VALUE', path: at, message, fix: 'Write `https://…`.' });
  }
  if (parsed !== undefined && trust_tier !== 'private' && isPrivateHost(parsed.hostname)) {
    const level = 'warning' as const;
    const message = `the endpoint is in a private network, but its trust_tier is \`${trust_tier}\``;
    const fix = 'Write `trust_tier: private` if it is yours, so that private turns may go there.';
    pools.report({ level, code: 'SUB_GATEWAY_VALUE', path: [...path, 'trust_tier'], message, fix });
  }
  if (key_ref === undefined && Object.keys(team_key_refs).length === 0 && !KEYLESS.has(provider)) {
    const level = 'warning' as const;
    const message = `${provider} wants a key, and none is named`;
    const fix = 'Add `key_ref: env://NAME`.';
    pools.report({ level, code: 'SUB_GATEWAY_SECRET', path, message, fix });
  }
  if (provider !== 'azure_openai' && deployments.length > 0) {
    const message = 'only azure_openai has deployments';
    const field = [...path, 'deployments'];
    pools.report({ code: 'SUB_GATEWAY_VALUE', path: field, message, fix: 'Remove them.' });
  }
  for (const name of Object.keys(team_key_refs)) {
    checkTeam(files, { file: pools, path: [...path, 'team_key_refs', name], name });
  }
}

interface PoolPlace {
  readonly name: string;
  readonly pool: PoolEntry;
  readonly value: PoolsFile;
  readonly file: ConfigFile<unknown>;
}

function checkPool({ name, pool, value, file }: PoolPlace): void {
  const path = ['pools', name];
  const { members, fallback_pool } = pool;
  if (members.length === 0) {
    const message = `the pool ${quote(name)} has no members`;
    const fix = 'Add `- { endpoint_id: …, model: …, weight: 1 }`, or remove the pool.';
    file.report({ code: 'SUB_GATEWAY_VALUE', path: [...path, 'members'], message, fix });
  }
  const seen = new Set<string>();
  for (const [index, member] of members.entries()) {
    const at = [...path, 'members', index];
    const id = JSON.stringify([member.endpoint_id, member.model, member.deployment]);
    if (seen.has(id)) {
      const message = 'the same endpoint and model stand in the pool twice';
      const fix = 'Remove one of them, and add up their weights.';
      file.report({ code: 'SUB_GATEWAY_DUPLICATE', path: at, message, fix });
    }
    seen.add(id);
    checkMember(member, at, { name, pool, value, file });
  }
  if (typeof fallback_pool === 'string') {
    const given = { file, path: [...path, 'fallback_pool'], name: fallback_pool };
    checkName(given, { what: 'pool', known: Object.keys(value.pools), place: '`pools`' });
  }
}

function checkMember(member: MemberEntry, path: Path, { name, value, file }: PoolPlace): void {
  const { endpoint_id, deployment } = member;
  const endpoints = value.provider_endpoints;
  const endpoint = Object.hasOwn(endpoints, endpoint_id) ? endpoints[endpoint_id] : undefined;
  if (endpoint === undefined) {
    const known = Object.keys(endpoints);
    const given = { file, path: [...path, 'endpoint_id'], name: endpoint_id };
    checkName(given, { what: 'endpoint', known, place: '`provider_endpoints`' });
    return;
  }
  if (name === PRIVATE_POOL && endpoint.trust_tier !== 'private') {
    const message = `\`${PRIVATE_POOL}\` takes only private endpoints, and this one is \`${endpoint.trust_tier}\``;
    const fix = 'Use an endpoint with `trust_tier: private`.';
    file.report({ code: 'SUB_GATEWAY_VALUE', path: [...path, 'endpoint_id'], message, fix });
  }
  const at = [...path, 'deployment'];
  if (endpoint.provider !== 'azure_openai') {
    if (deployment === undefined) return;
    const message = `${endpoint.provider} has no deployments`;
    file.report({ code: 'SUB_GATEWAY_VALUE', path: at, message, fix: 'Remove it.' });
  } else if (deployment === undefined) {
    const message = 'a member on azure_openai needs its `deployment`';
    const fix = `Add \`deployment: ${endpoint.deployments[0] ?? 'NAME'}\`.`;
    file.report({ code: 'SUB_GATEWAY_FIELD', path, message, fix });
  } else {
    const place = `\`deployments\` of ${quote(endpoint_id)}`;
    const names = { what: 'deployment', known: endpoint.deployments, place };
    checkName({ file, path: at, name: deployment }, names);
  }
}

/** A turn must not go round in a circle of fallbacks. */
function checkFallbacks({ pools }: PoolsFile, file: ConfigFile<unknown>): void {
  const reported = new Set<string>();
  for (const start of Object.keys(pools)) {
    const way = [start];
    let next = fallbackOf(pools, start);
    while (next !== undefined && !way.includes(next)) {
      way.push(next);
      next = fallbackOf(pools, next);
    }
    if (next !== start || way.some((name) => reported.has(name))) continue;
    for (const name of way) reported.add(name);
    const message = `pools fall back to each other in a circle: ${[...way, start].join(' → ')}`;
    const path = ['pools', start, 'fallback_pool'];
    const fix = 'Write `fallback_pool: null` in one of them.';
    file.report({ code: 'SUB_GATEWAY_REFERENCE', path, message, fix });
  }
}

function fallbackOf(pools: PoolsFile['pools'], name: string): string | undefined {
  const next = Object.hasOwn(pools, name) ? pools[name]?.fallback_pool : undefined;
  return typeof next === 'string' && Object.hasOwn(pools, next) ? next : undefined;
}

function checkPrices({ pools, provider_endpoints }: PoolsFile, files: ConfigFiles): void {
  const { pricing, pools: file } = files;
  if (pricing.value === undefined) return;
  const seen = new Set<string>();
  for (const [index, { provider, endpoint, model }] of pricing.value.prices.entries()) {
    const path = ['prices', index];
    const id = JSON.stringify(endpoint === undefined ? [provider, model] : [endpoint, model, '']);
    if (seen.has(id)) {
      const message = `${quote(model)} has a price already`;
      const fix = 'Remove one of them.';
      pricing.report({ code: 'SUB_GATEWAY_DUPLICATE', path, message, fix });
    }
    seen.add(id);
    if (endpoint === undefined) continue;
    const names = { what: 'endpoint', known: Object.keys(provider_endpoints), place: 'pools.yaml' };
    checkName({ file: pricing, path: [...path, 'endpoint'], name: endpoint }, names);
  }
  const book = priceBook(pricesOf(pricing.value));
  for (const [name, { members }] of Object.entries(pools)) {
    for (const [index, { endpoint_id, model }] of members.entries()) {
      const provider = Object.hasOwn(provider_endpoints, endpoint_id)
        ? provider_endpoints[endpoint_id]?.provider
        : undefined;
      if (provider === undefined) continue;
      if (book.priceFor({ provider, endpointId: endpoint_id, model }) !== undefined) continue;
      const path = ['pools', name, 'members', index, 'model'];
      const message = `${quote(model)} of ${provider} has no price, so no budget counts it`;
      const fix = 'Add it to pricing.yaml.';
      file.report({ level: 'warning', code: 'SUB_GATEWAY_UNPRICED', path, message, fix });
    }
  }
}
