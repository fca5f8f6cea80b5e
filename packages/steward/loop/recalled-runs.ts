/** Which runs were shown something of the memory. A run that is opened anew recalls anew. */
export class RecalledRuns {
  readonly #any = new Set<string>();
  readonly #outside = new Set<string>();

  note(runId: string, { isOutside }: { readonly isOutside: boolean }): void {
    this.#any.add(runId);
    if (isOutside) this.#outside.add(runId);
  }

  hasAny(runId: string): boolean {
    return this.#any.has(runId);
  }

  /** Something that others have written, and the user has not confirmed. */
  hasOutside(runId: string): boolean {
    return this.#outside.has(runId);
  }

  forget(runId: string): void {
    this.#any.delete(runId);
    this.#outside.delete(runId);
  }
}
