export function CompareView({ runIds }: { readonly runIds: readonly [string, string] }) {
  return <p>{runIds.join(' ')}</p>;
}
