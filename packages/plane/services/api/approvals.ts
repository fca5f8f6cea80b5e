// Calls that wait for a person, and what lasts of a person's word, as paths.
import type { HttpBindings } from '@hono/node-server';
import { API_ENDPOINTS } from '@subluminal/contracts';
import type { Context, Hono } from 'hono';
import { bodyOf, JSON_TYPE, type Problem } from './http-server.ts';
import { readInput, readParameters } from './read-request.ts';
import type { ApiDesk, DeskFault } from './types.ts';

type Env = { Bindings: HttpBindings };
type Asked = Context<Env>;

/** Adds the paths of approvals and grants. Without a desk, there are none. */
export function addApprovals(app: Hono<Env>, desk: ApiDesk | undefined): void {
  if (desk === undefined) return;
  const { approvals, approval, approve, reject, grants, revoke } = API_ENDPOINTS;
  app.get(approvals.path, (asked) => {
    const read = readParameters(approvals.query, target(asked));
    return read.ok ? told(asked, desk.approvals(read.value)) : refused(asked, read.problem);
  });
  app.get(pathOf(approval.path), (asked) => bare(asked) ?? told(asked, desk.approval(id(asked))));
  app.get(grants.path, (asked) => {
    const read = readParameters(grants.query, target(asked));
    return read.ok ? told(asked, desk.grants(read.value)) : refused(asked, read.problem);
  });
  app.post(pathOf(approve.path), async (asked) => {
    const read = await readInput(asked.env.incoming, approve.input);
    if (!read.ok) return refused(asked, read.problem);
    return bare(asked) ?? told(asked, desk.approve(id(asked), read.value));
  });
  app.post(pathOf(reject.path), async (asked) => {
    const read = await readInput(asked.env.incoming, reject.input);
    if (!read.ok) return refused(asked, read.problem);
    return bare(asked) ?? told(asked, desk.reject(id(asked), read.value));
  });
  app.post(pathOf(revoke.path), async (asked) => {
    const read = await readInput(asked.env.incoming, revoke.input);
    if (!read.ok) return refused(asked, read.problem);
    return bare(asked) ?? told(asked, desk.revoke(id(asked)));
  });
}

/** Why a path that takes no parameters gets no answer. */
function bare(asked: Asked): Response | undefined {
  const read = readParameters(API_ENDPOINTS.approval.query, target(asked));
  return read.ok ? undefined : refused(asked, read.problem);
}

function target(asked: Asked): string {
  return asked.env.incoming.url ?? '';
}

function pathOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function id(asked: Asked): string {
  return asked.req.param('id') ?? '';
}

function isFault(value: object | DeskFault): value is DeskFault {
  return 'kind' in value && value.kind === 'fault';
}

function told(asked: Asked, value: object | DeskFault): Response {
  if (isFault(value)) return refused(asked, value);
  return asked.body(JSON.stringify(value), 200, { 'content-type': JSON_TYPE });
}

function refused(asked: Asked, problem: Problem): Response {
  return asked.body(bodyOf(problem), problem.status, { 'content-type': JSON_TYPE });
}
