import { useEffect, useState } from 'react';

const REST_MS = 300;

/** The value as it was when it last rested: what is typed is asked about once the typing pauses. */
export function useDebounced<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  const isSame = JSON.stringify(settled) === JSON.stringify(value);
  useEffect(() => {
    if (isSame) return undefined;
    const timer = setTimeout(() => setSettled(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value, isSame]);
  return settled;
}
