/* tpcc.c - a wholesaler with the tables and the mix of TPC-C, over keys table:number:column.
 *
 * Records are made by writing a fresh number into the record that leads to them: the last order of a customer and of a
 * district is the number of a record of `order`.
 */
#include "workload/generator.h"

enum { DISTRICTS = 10, CUSTOMERS = 3000, PRODUCTS = 1000, LINES_LEAST = 5, LINES_MOST = 15, STOCK_READS = 10 };

typedef struct place {
  uint64_t warehouse, district, customer;
} place;

static place draw_place(iso_generator_session *session) {
  iso_random *random = &session->random;
  place here = {.warehouse = iso_generator_draw(session)};
  here.district = here.warehouse * DISTRICTS + iso_random_below(random, DISTRICTS);
  here.customer = here.district * CUSTOMERS + iso_random_below(random, CUSTOMERS);
  return here;
}

static uint64_t draw_stock(iso_generator_session *session, uint64_t warehouse, uint32_t *product) {
  *product = iso_random_below(&session->random, PRODUCTS);
  return warehouse * PRODUCTS + *product;
}

static void new_order(iso_generator_session *session, place here) {
  iso_program *program = &session->program;
  iso_program_read(program, ISO_FIELD_WAREHOUSE_YTD, here.warehouse);
  iso_program_read(program, ISO_FIELD_CUSTOMER_BALANCE, here.customer);
  uint32_t order = iso_program_update(program, ISO_FIELD_DISTRICT_LAST, here.district);
  uint32_t lines = LINES_LEAST + iso_random_below(&session->random, LINES_MOST - LINES_LEAST + 1);
  for (uint32_t i = 0; i < lines; i++) {
    uint32_t product;
    uint64_t stock = draw_stock(session, here.warehouse, &product);
    iso_program_read(program, ISO_FIELD_PRODUCT_PRICE, product);
    iso_program_update(program, ISO_FIELD_STOCK_QUANTITY, stock);
  }
  iso_program_write_new(program, ISO_FIELD_ORDER_LINES, order);
  iso_program_update(program, ISO_FIELD_CUSTOMER_LAST, here.customer);
}

static void payment(iso_generator_session *session, place here) {
  iso_program *program = &session->program;
  iso_program_update(program, ISO_FIELD_WAREHOUSE_YTD, here.warehouse);
  iso_program_update(program, ISO_FIELD_DISTRICT_YTD, here.district);
  iso_program_update(program, ISO_FIELD_CUSTOMER_BALANCE, here.customer);
}

static void order_status(iso_generator_session *session, place here) {
  iso_program *program = &session->program;
  iso_program_read(program, ISO_FIELD_CUSTOMER_BALANCE, here.customer);
  iso_program_read(program, ISO_FIELD_CUSTOMER_LAST, here.customer);
  uint32_t last = iso_program_read(program, ISO_FIELD_DISTRICT_LAST, here.district);
  iso_program_read_seen(program, ISO_FIELD_ORDER_LINES, last);
  iso_program_read_seen(program, ISO_FIELD_ORDER_CARRIER, last);
}

static void delivery(iso_generator_session *session, place here) {
  iso_program *program = &session->program;
  for (uint64_t i = 0; i < DISTRICTS; i++) {
    uint32_t last = iso_program_read(program, ISO_FIELD_DISTRICT_LAST, here.warehouse * DISTRICTS + i);
    iso_program_read_seen(program, ISO_FIELD_ORDER_CARRIER, last);
    iso_program_write_seen(program, ISO_FIELD_ORDER_CARRIER, last);
  }
  iso_program_update(program, ISO_FIELD_CUSTOMER_BALANCE, here.customer);
}

static void stock_level(iso_generator_session *session, place here) {
  iso_program *program = &session->program;
  uint32_t last = iso_program_read(program, ISO_FIELD_DISTRICT_LAST, here.district);
  iso_program_read_seen(program, ISO_FIELD_ORDER_LINES, last);
  for (uint32_t i = 0; i < STOCK_READS; i++) {
    uint32_t product;
    iso_program_read(program, ISO_FIELD_STOCK_QUANTITY, draw_stock(session, here.warehouse, &product));
  }
}

isoproof_status iso_next_tpcc(iso_generator_session *session, isoproof_error *error) {
  (void)error;
  place here = draw_place(session);
  uint32_t percent = iso_random_below(&session->random, 100);
  if (percent < 45)
    new_order(session, here);
  else if (percent < 88)
    payment(session, here);
  else if (percent < 92)
    order_status(session, here);
  else if (percent < 96)
    delivery(session, here);
  else
    stock_level(session, here);
  return ISOPROOF_OK;
}
