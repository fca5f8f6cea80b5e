// What a role may see: developers what is their own, team admins what is their team's, platform admins all.
import { definedFields, type GatewayRole } from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import { type HttpFailure, httpFailure } from '@subluminal/plane/api/http-failure';
import { UNASSIGNED_TEAM } from '../auth/index.ts';

const RANKS: { readonly [R in GatewayRole]: number } = {
  developer: 0,
  team_admin: 1,
  platform_admin: 2,
};

export function hasRole(caller: Caller, least: GatewayRole): boolean {
  return RANKS[caller.role] >= RANKS[least];
}

export function roleFailure(detail: string): HttpFailure {
  return httpFailure(403, 'SUB_GATEWAY_ROLE', detail);
}

/** A filter that shows a caller no more than they may see. */
export interface Scope {
  readonly userId?: string;
  readonly teamId?: string;
}

/** The scope of a question; a failure when it asks for what is not the caller's to see. */
export function scopeFor(
  caller: Caller,
  asked: { readonly user_id?: string | undefined; readonly team_id?: string | undefined },
): Scope | HttpFailure {
  const { user_id: userId, team_id: teamId } = asked;
  const scope = definedFields({ userId, teamId });
  if (caller.role === 'platform_admin') return scope;
  if (teamId !== undefined && teamId !== caller.teamId) {
    return roleFailure('You may see your own team.');
  }
  if (leadsTeam(caller)) return { ...scope, teamId: caller.teamId };
  if (userId !== undefined && userId !== caller.userId) {
    return roleFailure('You may see what is your own.');
  }
  return { ...scope, userId: caller.userId };
}

export function maySee(
  caller: Caller,
  owner: { readonly userId: string; readonly teamId: string },
): boolean {
  if (caller.role === 'platform_admin' || owner.userId === caller.userId) return true;
  return leadsTeam(caller) && owner.teamId === caller.teamId;
}

/** The admin of no team leads nobody, not all who have none. */
function leadsTeam({ role, teamId }: Caller): boolean {
  return role === 'team_admin' && teamId !== UNASSIGNED_TEAM;
}
