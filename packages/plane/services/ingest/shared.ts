// Work that many ask for at once is done for all of them together.

/** Runs `work` for whoever asks. Those who ask while it runs share the next time. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const ask = (): Promise<T> => {
    if (current === undefined) {
      current = work().finally(() => {
        current = undefined;
      });
      return current;
    }
    const again = () => {
      next = undefined;
      return ask();
    };
    next ??= current.then(again, again);
    return next;
  };
  return ask;
}
