/** One thing that must be true of the product. */
export interface Requirement {
  readonly id: string;
  readonly state: 'done' | 'planned';
  readonly text: string;
}
