export async function fetchFoo(id: number): Promise<string> { return `foo-${id}`; }
