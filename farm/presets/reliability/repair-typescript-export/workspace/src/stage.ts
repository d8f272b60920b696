export const stage = "draft";

export function isFinal(): boolean {
  return stage.length === 5;
}
