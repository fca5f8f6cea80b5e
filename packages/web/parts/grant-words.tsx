import { plainText } from './plain-text.ts';

/** What a grant covers, in the words of the server. */
export function GrantWords({ covers }: { readonly covers: readonly string[] }) {
  return (
    <ul className="border-l-2 border-ask px-3">
      {covers.map((line) => (
        <li key={line} className="break-words whitespace-pre-wrap">
          {plainText(line)}
        </li>
      ))}
    </ul>
  );
}
