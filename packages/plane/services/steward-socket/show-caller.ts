// Shows Steward which process asks: it gives out a word and looks for it in the name of the process that says it is the
// one. Nobody else can put it there.
import { readFileSync, writeFileSync } from 'node:fs';
import { type Failure, isObject, tableFailure } from '@subluminal/contracts';
import { parseJson } from '../../os/index.ts';
import { postToSteward, readFailure, UNKNOWN_CALLER } from './post-to-steward.ts';

const OWN_NAME = '/proc/self/comm';

const tokens = new Map<string, Promise<string | Failure>>();
/** One after the other: a process has one name. */
let last: Promise<unknown> = Promise.resolve();

/** What everything is asked with, of the Steward on this socket. */
export function callerToken(socket: string): Promise<string | Failure> {
  const known = tokens.get(socket);
  if (known !== undefined) return known;
  const shown = last.then(() => showCaller(socket));
  last = shown;
  tokens.set(socket, shown);
  void shown.then((token) => typeof token === 'string' || tokens.delete(socket));
  return shown;
}

export function forgetCaller(socket: string): void {
  tokens.delete(socket);
}

async function showCaller(socket: string): Promise<string | Failure> {
  const first = await ask(socket, {});
  if (typeof first['word'] !== 'string') return tokenIn(socket, first);
  const name = nameNow();
  takeName(first['word']);
  try {
    return tokenIn(socket, await ask(socket, { word: first['word'], pid: process.pid }));
  } finally {
    takeName(name);
  }
}

type Told = { readonly [key: string]: unknown };

async function ask(socket: string, body: object): Promise<Told> {
  const answered = await postToSteward(socket, 'caller', { body: JSON.stringify(body) });
  if (answered === UNKNOWN_CALLER) return {};
  const told = typeof answered === 'string' ? parseJson(answered) : { ...answered };
  return isObject(told) ? told : {};
}

function tokenIn(socket: string, told: Told): string | Failure {
  if (typeof told['token'] === 'string') return told['token'];
  if (told['kind'] === 'failure') return readFailure(told);
  return tableFailure(
    'SUB_STEWARD_AWAY',
    `What answers on ${socket} is no Steward of this version.`,
  );
}

function nameNow(): string {
  try {
    return readFileSync(OWN_NAME, 'utf8').trim();
  } catch {
    return '';
  }
}

function takeName(name: string): void {
  try {
    if (name !== '') writeFileSync(OWN_NAME, name);
  } catch {
    // Then Steward refuses.
  }
}
