// Policy, pools and webhooks, and what the local proxy asks for.
import { createHash } from 'node:crypto';
import {
  type ExplainRequest,
  GATEWAY_ENDPOINTS,
  isFailure,
  parseExplainRequest,
} from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import { badRequest, NOT_FOUND } from '@subluminal/plane/api/http-failure';
import { parseJson } from '@subluminal/plane/os';
import { UNASSIGNED_TEAM } from '../auth/index.ts';
import type { WebhookRow } from '../store/types.ts';
import { recordEvent } from './audit-log.ts';
import { isOlder } from './proxy-version.ts';
import type { Routes } from './routes.ts';
import { maySee, roleFailure } from './scope.ts';
import type { GatewayApiOptions } from './types.ts';

/** Webhooks that the API added; the configuration may have more. */
const WEBHOOKS_MAX = 100;

export function addConfigRoutes(routes: Routes, options: GatewayApiOptions): void {
  addPolicy(routes, options);
  addPools(routes, options);
  addWebhooks(routes, options);
  addProxy(routes, options);
}

function addPolicy(routes: Routes, options: GatewayApiOptions): void {
  const { policy, config } = options;
  const { policyCurrent, policyReload, explain, explainBody } = GATEWAY_ENDPOINTS;
  routes.add(policyCurrent, () => ({ version: policy.version(), policy: policy.current() }));
  routes.addInput(policyReload, async ({ caller, traceId }) => {
    const { changed, problems } = await policy.reload();
    const version = policy.version();
    const detail = { changed, version, problems: problems.length };
    await recordEvent(options, { traceId, caller, eventType: 'policy_reloaded', detail });
    return { changed, version, problems };
  });
  const explained = async (caller: Caller, request: ExplainRequest) => {
    const userId = request.user_id ?? caller.userId;
    const teamId = config().teamOf(userId) ?? UNASSIGNED_TEAM;
    if (!maySee(caller, { userId, teamId })) return roleFailure('Ask about your own team.');
    const found = await policy.explain(request, { ...caller, userId, teamId });
    return isFailure(found)
      ? { ...found, status: 400 as const }
      : { version: policy.version(), ...found };
  };
  routes.add(explain, ({ caller, query }) => {
    const read = parseExplainRequest(parseJson(query.input));
    return read.ok ? explained(caller, read.value) : badRequest('`input` is not what POST takes.');
  });
  routes.addInput(explainBody, ({ caller }, request) => explained(caller, request));
}

function addPools(routes: Routes, { config }: GatewayApiOptions): void {
  routes.add(GATEWAY_ENDPOINTS.pools, () => {
    const { pools, endpoints } = config();
    return {
      pools: pools.map(({ name, members, fallbackPool }) => ({
        name,
        members: members.map(({ endpointId, model, weight }) => {
          return { endpoint_id: endpointId, model, weight };
        }),
        fallback_pool: fallbackPool ?? null,
      })),
      endpoints: endpoints.map(({ id, provider, dataResidency, trustTier, supports }) => ({
        id,
        provider,
        data_residency: dataResidency,
        trust_tier: trustTier,
        supports: [...supports],
      })),
    };
  });
}

function webhookAnswer({ id, url, events }: WebhookRow, source: 'config' | 'api') {
  return { id, url, events, source };
}

function addWebhooks(routes: Routes, options: GatewayApiOptions): void {
  const { store, webhooks: desk, tenantId, nowMs, newId } = options;
  const { webhooks, addWebhook, removeWebhook, testWebhook } = GATEWAY_ENDPOINTS;
  routes.add(webhooks, async () => {
    const added = await store.webhooks.list(tenantId);
    return {
      webhooks: [
        ...desk.configured().map((row) => webhookAnswer(row, 'config')),
        ...added.map((row) => webhookAnswer(row, 'api')),
      ],
    };
  });
  routes.addInput(addWebhook, async ({ caller, traceId }, body) => {
    const { url, events, secret_ref: secretRef } = body;
    const wrong = await desk.check({ url, secretRef });
    if (wrong !== undefined) return { ...wrong, status: 400 };
    if ((await store.webhooks.list(tenantId)).length >= WEBHOOKS_MAX) {
      return badRequest(`There are ${WEBHOOKS_MAX} webhooks already.`);
    }
    const row = { id: newId(), tenantId, url, events: [...new Set(events)], secretRef };
    await store.webhooks.add({ ...row, createdMs: nowMs() });
    const detail = { webhook_id: row.id, events: row.events };
    await recordEvent(options, { traceId, caller, eventType: 'webhook_added', detail });
    return webhookAnswer({ ...row, createdMs: nowMs() }, 'api');
  });
  routes.add(removeWebhook, async ({ caller, traceId, ids: { id = '' } }) => {
    if (desk.configured().some((row) => row.id === id)) {
      return badRequest('It stands in webhooks.yaml; remove it there.');
    }
    const changed = await store.webhooks.remove(tenantId, id);
    if (!changed) return NOT_FOUND;
    const detail = { webhook_id: id };
    await recordEvent(options, { traceId, caller, eventType: 'webhook_removed', detail });
    return { changed };
  });
  routes.addInput(testWebhook, async ({ ids: { id = '' } }) => {
    const all = [...desk.configured(), ...(await store.webhooks.list(tenantId))];
    const found = all.find((row) => row.id === id);
    return found === undefined ? NOT_FOUND : desk.test(found);
  });
}

function addProxy(routes: Routes, options: GatewayApiOptions): void {
  const { policy, bindings, config, version } = options;
  const { policySnippet, versionCheck, bindRepo } = GATEWAY_ENDPOINTS;
  routes.add(policySnippet, ({ caller, context }) => {
    const rules = policy.rulesFor(caller);
    const body = JSON.stringify({ version: policy.version(), rules });
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
    // `no-store` of all other answers would keep the proxy from asking whether its copy still holds.
    const headers = { etag, 'cache-control': 'private, no-cache' };
    if (context.req.header('if-none-match') === etag) return context.body(null, 304, headers);
    return context.body(body, 200, { ...headers, 'content-type': 'application/json' });
  });
  routes.addOpen(versionCheck, ({ query }) => {
    const { minimumVersion, latestVersion } = config();
    const asked = query.version;
    const isSupported =
      minimumVersion === null || (asked !== undefined && !isOlder(asked, minimumVersion));
    return {
      gateway_version: version,
      minimum_version: minimumVersion ?? '0.0.0',
      latest_version: latestVersion,
      is_supported: isSupported,
      message: isSupported
        ? newerVersion(asked, latestVersion)
        : `Update Subluminal to ${minimumVersion} or newer.`,
    };
  });
  routes.addInput(bindRepo, async ({ caller, traceId }, body) => {
    const { remote_url: remoteUrl, machine_id: machineId, head_sha } = body;
    const bound = await bindings.bind(caller, { remoteUrl, machineId });
    if (isFailure(bound)) return { ...bound, status: 403 };
    const { token, repoId, expiresMs } = bound;
    const detail = { machine_id: machineId, head_sha: head_sha ?? null };
    await recordEvent(options, { traceId, caller, eventType: 'repo_bound', detail, repoId });
    return { binding_token: token, repo_id: repoId, expires_at_ms: expiresMs };
  });
}

function newerVersion(asked: string | undefined, latest: string | null): string | null {
  if (latest === null || asked === undefined || !isOlder(asked, latest)) return null;
  return `Subluminal ${latest} is there. Update when you can.`;
}
