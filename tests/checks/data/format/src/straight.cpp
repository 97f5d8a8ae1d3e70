int straight;
