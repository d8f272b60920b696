export const stage = "final";

export function isFinal(): boolean {
  return stage.length === 5;
}
