// Ids as people write them: whole, or as much of the start or the end as is unique.
import { isUuid } from '@subluminal/contracts';

type FoundId =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly ids: readonly string[] };

const LENGTH_MIN = 4;
/** The end of an id is random; its start is the time. */
const SHORT_LENGTH = 8;

export function findId(ids: readonly string[], text: string): FoundId {
  const wanted = text.toLowerCase();
  if (isUuid(wanted)) return ids.includes(wanted) ? { kind: 'id', id: wanted } : { kind: 'none' };
  if (wanted.length < LENGTH_MIN) return { kind: 'none' };
  const fitting = ids.filter((id) => id.startsWith(wanted) || id.endsWith(wanted));
  const [first, ...others] = fitting;
  if (first === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'id', id: first } : { kind: 'several', ids: fitting };
}

export function shortId(id: string): string {
  return id.slice(-SHORT_LENGTH);
}
