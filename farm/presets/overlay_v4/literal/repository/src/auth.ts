export interface Visitor {
  hasPass: boolean;
  isSuspended: boolean;
}

export function maySignIn(visitor: Visitor): boolean {
  return visitor.hasPass || !visitor.isSuspended;
}
