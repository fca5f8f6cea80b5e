/** Above what was tried with a text that was edited since. */
export function OldResult() {
  return (
    <p className="border-l-2 border-throttle px-3 py-1">
      The policy has been edited since: try it again.
    </p>
  );
}
