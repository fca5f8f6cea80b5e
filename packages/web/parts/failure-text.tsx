import { ApiFailure } from '../api/request.ts';
import { plainText } from './plain-text.ts';

/** Why something did not work, and what helps. */
export function FailureText({ cause }: { readonly cause: unknown }) {
  const message = cause instanceof Error ? cause.message : String(cause);
  return (
    <div role="alert" className="border-l-2 border-danger px-3 py-1">
      <p>{plainText(message)}</p>
      {cause instanceof ApiFailure && cause.fix !== '' && (
        <p className="text-dim">{plainText(cause.fix)}</p>
      )}
    </div>
  );
}
