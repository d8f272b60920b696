export function util(text: string): string { return text.trim().toLowerCase(); }
