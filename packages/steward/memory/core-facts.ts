// Core memory: facts that the user has set by a command. No tool of the agent comes here.
import type { Failure } from '@subluminal/contracts';
import { type MemoryParts, memoryRefusal } from './memory-parts.ts';
import type { CoreFact } from './types.ts';

const KEY_UNITS_MAX = 80;
const VALUE_UNITS_MAX = 1_000;
const FACTS_MAX = 200;

/** Those that somebody has changed in the database are left out. */
export async function coreFacts({ store, seals }: MemoryParts): Promise<readonly CoreFact[]> {
  const rows = await store.core();
  return rows
    .filter((row) => seals.isCoreGenuine(row))
    .map(({ key, value, setMs }) => ({ key, value, setMs }));
}

export async function setCoreFact(
  { store, seals, forgotten, redactor, nowMs }: MemoryParts,
  key: string,
  value: string,
): Promise<CoreFact | Failure> {
  const name = key.trim();
  if (name === '' || name.length > KEY_UNITS_MAX)
    return memoryRefusal(`A fact has a name of 1 to ${KEY_UNITS_MAX} characters.`);
  if (value.trim() === '' || value.length > VALUE_UNITS_MAX)
    return memoryRefusal(`A fact has 1 to ${VALUE_UNITS_MAX} characters.`);
  const known = await store.core();
  if (known.length >= FACTS_MAX && !known.some((row) => row.key === name))
    return memoryRefusal(`There are ${FACTS_MAX} facts already.`);
  const fact = { key: name, value: redactor.plain(value), setMs: nowMs() };
  forgotten.remove(seals.hashText(coreForgetText(fact)));
  await store.putCore(seals.sealCore(fact));
  return fact;
}

export async function removeCoreFact(
  { store }: MemoryParts,
  key: string,
): Promise<Failure | undefined> {
  const known = await store.core();
  if (!known.some((row) => row.key === key)) return memoryRefusal(`There is no fact ${key}.`);
  await store.removeCore([key]);
  return undefined;
}

/** What a fact is forgotten by when an old copy of the database is opened. */
export function coreForgetText({ key, value }: Pick<CoreFact, 'key' | 'value'>): string {
  return `core\n${key}\n${value}`;
}
