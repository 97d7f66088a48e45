/* A program that has a backend's entry. */
const void *qaas_backend_entry_v1(void) { return 0; }
int main(void) { return 0; }
