import { type CallSearch, parseCallSearch } from '@subluminal/contracts';
import { useMemo } from 'react';
import { useAddress } from '../address/address.ts';
import { rangeOf, type ShownFilter } from './ranges.ts';

/** Times such as `since:2h` count from when it was written. */
function parsedNow(text: string): CallSearch {
  return parseCallSearch(text, Date.now());
}

export function useShownFilter(): ShownFilter {
  const { params } = useAddress();
  const { q: text = '', since = '', from = '', to = '' } = params;
  const search = useMemo(() => parsedNow(text), [text]);
  const range = useMemo(() => rangeOf({ since, from, to }), [since, from, to]);
  return useMemo(() => ({ text, search, range }), [text, search, range]);
}
