/**
 * What the workbench in this page keeps about the editors that are open, as it has written it. Runs in the page.
 * @returns JSON of which parts are JSON in strings; empty when nothing is kept yet
 */
export async function readEditors(): Promise<string> {
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(new Error(String(request.error))));
    });
  const kept: string[] = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name!));
    if (database.objectStoreNames.contains('ItemTable')) {
      const items = database.transaction('ItemTable').objectStore('ItemTable');
      const value: unknown = await settled(items.get('memento/workbench.parts.editor'));
      if (typeof value === 'string') kept.push(value);
    }
    database.close();
  }
  return kept.join('\n');
}
