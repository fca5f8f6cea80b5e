// Keys, invites, users and roles.
import { GATEWAY_ENDPOINTS, isFailure } from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import { badRequest, NOT_FOUND } from '@subluminal/plane/api/http-failure';
import { type NewKey, UNASSIGNED_TEAM } from '../auth/index.ts';
import type { UserRow } from '../store/types.ts';
import { recordEvent } from './audit-log.ts';
import type { Routes } from './routes.ts';
import type { ApiConfig, GatewayApiOptions } from './types.ts';

const HOUR_MS = 3_600_000;
const INVITE_HOURS = 168;

export function addPeopleRoutes(routes: Routes, options: GatewayApiOptions): void {
  addOwnKeys(routes, options);
  addInvites(routes, options);
  addUsers(routes, options);
  addExchanges(routes, options);
}

function addOwnKeys(routes: Routes, options: GatewayApiOptions): void {
  const { store, authenticator, onboarding, config, nowMs } = options;
  const { whoami, keys, addKey, revokeKey } = GATEWAY_ENDPOINTS;
  routes.add(whoami, ({ caller }) => ({
    user_id: caller.userId,
    role: caller.role,
    ...personAnswer(config(), caller),
  }));
  routes.add(keys, async ({ caller }) => {
    const rows = await store.keys.list(caller.tenantId, caller.userId);
    const active = rows.filter(({ revokedMs }) => revokedMs === null);
    return {
      keys: active.map(({ id, last4, name, createdMs }) => {
        return { id, last4, name, created_at_ms: createdMs };
      }),
    };
  });
  routes.addInput(addKey, async ({ caller, traceId }, { name = '' }) => {
    const made = await onboarding.addKey(caller.userId, name);
    if (isFailure(made)) return { ...made, status: 409 };
    const detail = { key_id: made.id };
    await recordEvent(options, { traceId, caller, eventType: 'key_created', detail });
    return newKeyAnswer(made);
  });
  routes.add(revokeKey, async ({ caller, traceId, ids: { id = '' } }) => {
    const { tenantId, userId } = caller;
    const own = (await store.keys.list(tenantId, userId)).some((key) => key.id === id);
    if (!own) return NOT_FOUND;
    const changed = await store.keys.revoke(tenantId, id, nowMs());
    authenticator.forgetKey(id);
    const detail = { key_id: id };
    if (changed) await recordEvent(options, { traceId, caller, eventType: 'key_revoked', detail });
    return { changed };
  });
}

/** What the configuration says of a user. */
function personAnswer(
  { emailOf, teamName }: ApiConfig,
  { userId, teamId }: Pick<Caller, 'userId' | 'teamId'>,
) {
  return { team_id: teamId, team_name: teamName(teamId), email: emailOf(userId) };
}

function newKeyAnswer({ id, key, last4, name, createdMs }: NewKey) {
  return { id, key, last4, name, created_at_ms: createdMs };
}

function addUsers(routes: Routes, options: GatewayApiOptions): void {
  const { store, authenticator, config, tenantId, nowMs } = options;
  const { users, setRole, revokeAll } = GATEWAY_ENDPOINTS;
  const userAnswer = ({ userId, role, createdMs }: UserRow) => {
    const teamId = config().teamOf(userId) ?? UNASSIGNED_TEAM;
    const person = personAnswer(config(), { userId, teamId });
    return { user_id: userId, role, ...person, created_at_ms: createdMs };
  };
  routes.add(users, async () => ({ users: (await store.people.users(tenantId)).map(userAnswer) }));
  routes.addInput(setRole, async ({ caller, traceId, ids: { id = '' } }, { role }) => {
    const all = await store.people.users(tenantId);
    const user = all.find(({ userId }) => userId === id);
    if (user === undefined) return NOT_FOUND;
    const admins = all.filter((one) => one.role === 'platform_admin');
    if (role !== 'platform_admin' && admins.length === 1 && admins[0] === user) {
      return badRequest('They are the only platform admin; make another one first.');
    }
    await store.people.setUser({ ...user, role });
    authenticator.forgetUser(id);
    const detail = { user_id: id, role, before: user.role };
    await recordEvent(options, { traceId, caller, eventType: 'role_changed', detail });
    return userAnswer({ ...user, role });
  });
  routes.addInput(revokeAll, async ({ caller, traceId, ids: { id = '' } }) => {
    const revoked = await store.keys.revokeAll(tenantId, id, nowMs());
    authenticator.forgetUser(id);
    const detail = { user_id: id, revoked };
    await recordEvent(options, { traceId, caller, eventType: 'keys_revoked', detail });
    return { revoked };
  });
}

function addInvites(routes: Routes, options: GatewayApiOptions): void {
  const { store, onboarding, tenantId, nowMs } = options;
  const { invite, invites, removeInvite } = GATEWAY_ENDPOINTS;
  routes.addInput(invite, async ({ caller, traceId }, body) => {
    const { user_id: userId, role, expires_in_hours: hours = INVITE_HOURS } = body;
    const lifetimeMs = hours * HOUR_MS;
    const request = { userId, role, createdBy: caller.userId, lifetimeMs };
    const { token, expiresMs } = await onboarding.invite(request);
    const detail = { user_id: userId, role, expires_at_ms: expiresMs };
    await recordEvent(options, { traceId, caller, eventType: 'invite_created', detail });
    return { invite_token: token, user_id: userId, role, expires_at_ms: expiresMs };
  });
  routes.add(invites, async () => {
    const rows = await store.people.openInvites(tenantId, nowMs());
    return {
      invites: rows.map(({ tokenHash: id, userId, role, createdBy, expiresMs }) => {
        return { id, user_id: userId, role, created_by: createdBy, expires_at_ms: expiresMs };
      }),
    };
  });
  routes.add(removeInvite, async ({ caller, traceId, ids: { id = '' } }) => {
    const open = await store.people.openInvites(tenantId, nowMs());
    const found = open.find(({ tokenHash }) => tokenHash === id);
    if (found === undefined) return NOT_FOUND;
    const changed = await store.people.removeInvite(tenantId, id);
    const detail = { user_id: found.userId, role: found.role };
    const event = { traceId, caller, eventType: 'invite_removed', detail };
    if (changed) await recordEvent(options, event);
    return { changed };
  });
}

/** Who has a token but no key yet. */
function addExchanges(routes: Routes, options: GatewayApiOptions): void {
  const { onboarding, authenticator, config, tenantId, onSetup } = options;
  const { setup, exchangeInvite } = GATEWAY_ENDPOINTS;
  const onboarded = async (
    user: { readonly userId: string; readonly role: Caller['role']; readonly key: NewKey },
    event: { traceId: string; eventType: string; machine: string | null },
  ) => {
    const { userId, role, key } = user;
    // An invite may have changed the role of somebody who was there.
    authenticator.forgetUser(userId);
    const teamId = config().teamOf(userId) ?? UNASSIGNED_TEAM;
    const { traceId, eventType, machine } = event;
    const caller = { tenantId, userId, teamId };
    const detail = { role, key_id: key.id, machine_id: machine };
    await recordEvent(options, { traceId, caller, eventType, detail });
    return { user_id: userId, role, team_id: teamId, key_id: key.id, api_key: key.key };
  };
  routes.addExchange(setup, async ({ traceId }, body) => {
    const made = await onboarding.takeSetup(body.setup_token, body.user_id);
    if (isFailure(made)) return made;
    onSetup?.();
    const machine = body.machine_id ?? null;
    return onboarded(made, { traceId, eventType: 'setup_completed', machine });
  });
  routes.addExchange(exchangeInvite, async ({ traceId }, body) => {
    const made = await onboarding.takeInvite(body.invite_token);
    if (isFailure(made)) return made;
    return onboarded(made, { traceId, eventType: 'invite_used', machine: body.machine_id });
  });
}
