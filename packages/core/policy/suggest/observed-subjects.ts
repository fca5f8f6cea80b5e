// What recorded requests show of resources and prompts: which ones passed each time.
import { type Event, isObject } from '@subluminal/contracts';
import type { OtherSubject } from '../model/subjects.ts';
import { isAllowed, previewedArgs } from './recorded-call.ts';

export interface ObservedSubject {
  readonly server: string;
  readonly subject: OtherSubject;
  /** The URIs of resources, or the names of prompts. */
  readonly names: readonly string[];
}

export interface ObservedSubjects {
  readonly listed: readonly ObservedSubject[];
  /** Requests for others. */
  readonly unlisted: number;
}

interface RecordedRequest {
  readonly server: string;
  readonly subject: OtherSubject;
  readonly name: string | undefined;
  /** Undefined before its decision. */
  passes: boolean | undefined;
}

const NAMES_MAX = 500;
/** The key of the name among the arguments. */
export const NAME_KEYS = { resource: 'uri', prompt: 'name' } as const;
/** A query, a fragment or a user may hold a secret. */
const PLAIN_NAME = /^[^?#@]{1,1000}$/;

export class SubjectRecorder {
  readonly #requests = new Map<string, RecordedRequest>();

  /** Whether the event is of a request for a resource or a prompt. */
  add(key: string, event: Event): boolean {
    if (event.type === 'tool_call_start' && event.call.subject !== undefined) {
      const { subject, server_name: server } = event.call;
      const args = previewedArgs(event);
      const name = isObject(args) ? args[NAME_KEYS[subject]] : undefined;
      const isPlain = typeof name === 'string' && PLAIN_NAME.test(name);
      const request = { server, subject, name: isPlain ? name : undefined, passes: undefined };
      this.#requests.set(key, request);
      return true;
    }
    const request = this.#requests.get(key);
    if (request === undefined) return false;
    if (event.type === 'tool_call_decision') {
      const isAsked = event.trace?.some(({ outcome }) => outcome === 'approved') === true;
      const passes = isAllowed(event) && !isAsked;
      request.passes = passes && request.passes !== false;
    }
    return true;
  }

  finish(): ObservedSubjects {
    const requests = [...this.#requests.values()];
    const stopped = new Set(requests.filter(({ passes }) => passes !== true).map(idOf));
    const known = new Set<string>();
    const listed = new Map<string, ObservedSubject & { readonly names: string[] }>();
    let unlisted = 0;
    for (const request of requests) {
      const { server, subject, name } = request;
      const id = idOf(request);
      if (known.has(id)) continue;
      if (name === undefined || stopped.has(id) || known.size >= NAMES_MAX) {
        unlisted += 1;
        continue;
      }
      known.add(id);
      const key = JSON.stringify([server, subject]);
      const group = listed.get(key) ?? { server, subject, names: [] };
      listed.set(key, group);
      group.names.push(name);
    }
    return { listed: [...listed.values()], unlisted };
  }
}

function idOf({ server, subject, name }: RecordedRequest): string {
  return JSON.stringify([server, subject, name]);
}
